-- A refuted query: its trace opens in a split, and its steps are shown in the text of the model.
package.path = vim.env.ZONELENS_PLUGIN .. '/test/?.lua;' .. package.path
local t = require('harness')
local trace = require('zonelens.trace')

local function step()
  return trace.current() and trace.current().step.step
end

local function hinted(bufnr, text)
  for _, label in pairs(trace.hint_lines(bufnr)) do
    if label:find(text, 1, true) then
      return true
    end
  end
  return false
end

t.run(function()
  local broken = t.open('fischer-broken.xta')
  local query = t.line_of(broken, '//@ query A[] forall')
  t.wait('the lens', function()
    return t.has_lens(broken, query, '▶ verify')
  end)
  vim.api.nvim_win_set_cursor(0, { query + 1, 0 })
  vim.cmd('Zonelens verify')
  t.wait('violated', function()
    return t.has_lens(broken, query, '✗ violated')
  end, 60)
  t.check(t.has_lens(broken, query, 'trace, '), 'there is a lens for the trace')

  vim.cmd('Zonelens trace')
  t.wait('the trace', function()
    return step() == 0
  end)
  local split = trace.current().buffer
  t.check(#vim.fn.win_findbuf(split) == 1, 'the trace is in a window')
  vim.cmd('Zonelens next')
  t.wait('step 1', function()
    return step() == 1
  end)
  if not vim.lsp.inlay_hint then
    t.wait('the hint on the edge', function()
      return hinted(broken, '①')
    end)
    t.check(hinted(broken, 'req ◉ Fischer('), 'hints show the processes at locations, which are named')
    t.check(hinted(broken, 'idle ◉ Fischer('), 'also if there are several on one line')
  end
  local function marked()
    return trace.marked(broken)[1]
  end
  t.check(marked() == trace.current().step.edges[1].line, 'the edge just taken is marked as a line')
  local edge = vim.api.nvim_buf_get_lines(broken, marked(), marked() + 1, false)[1]
  t.check(edge:find('->', 1, true), 'on the line of an edge: ' .. edge)
  -- Names and colours in the split.
  local function group(text)
    for i, line in ipairs(vim.api.nvim_buf_get_lines(split, 0, -1, false)) do
      local column = line:find(text)
      if column then
        return vim.api.nvim_buf_call(split, function()
          return vim.fn.synIDattr(vim.fn.synID(i, column, 1), 'name')
        end)
      end
    end
  end
  for text, name in pairs({ ['Fischer%(%d%): idle'] = 'zonelensProcess', ['→'] = 'zonelensArrow', ['t = %d'] = 'zonelensTime' }) do
    t.check(group(text) == name, text .. ' has the colour ' .. tostring(group(text)))
  end
  -- While the text means something else, no line is marked.
  local changed = t.replace(broken, 'x <= k', 'x < k')
  t.wait('the mark to go', function()
    return #trace.marked(broken) == 0
  end)
  vim.api.nvim_buf_set_lines(broken, changed, changed + 1, false, { (vim.api.nvim_buf_get_lines(broken, changed, changed + 1, false)[1]:gsub('x < k', 'x <= k')) })
  t.wait('the mark to be back', function()
    return #trace.marked(broken) > 0
  end)
  vim.cmd('Zonelens last')
  t.wait('the last step', function()
    return step() == trace.current().step.steps - 1
  end)
  vim.cmd('Zonelens prev')
  vim.cmd('Zonelens first')
  t.wait('the first step', function()
    return step() == 0
  end)
  vim.cmd('Zonelens goto 2')
  t.wait('step 2', function()
    return step() == 2
  end)
  vim.cmd('Zonelens close')
  t.check(not vim.api.nvim_buf_is_valid(split), 'the split is gone')
  t.check(next(trace.hint_lines(broken)) == nil, 'the hints are gone')
  t.check(#trace.marked(broken) == 0, 'the marks are gone')

  vim.cmd('Zonelens status')
  vim.cmd('checkhealth zonelens')
  local report = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  t.check(report:find('the server is running', 1, true), 'checkhealth knows the server:\n' .. report)
end)
