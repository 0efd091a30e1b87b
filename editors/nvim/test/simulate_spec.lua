-- The simulator: a walk by keys, marks and hints in the model, edits, the page of a rule, fixes of a line.
package.path = vim.env.ZONELENS_PLUGIN .. '/test/?.lua;' .. package.path
local t = require('harness')
local simulate = require('zonelens.simulate')

local said = {}
vim.notify = function(message)
  table.insert(said, message)
end

local function was_said(text)
  for _, message in ipairs(said) do
    if message:find(text, 1, true) then
      return true
    end
  end
  return false
end

local function step()
  return simulate.current() and simulate.current().state.step
end

local function page()
  return table.concat(vim.api.nvim_buf_get_lines(simulate.current().buffer, 0, -1, false), '\n')
end

-- Presses keys in the simulator's window.
local function press(keys)
  vim.fn.win_gotoid(vim.fn.win_findbuf(simulate.current().buffer)[1])
  local codes = vim.api.nvim_replace_termcodes(keys, true, false, true)
  vim.api.nvim_feedkeys(codes, 'mx', false)
end

local function at_step(number)
  t.wait('step ' .. number, function()
    return step() == number
  end)
end

-- The workers that the editor's server has started.
local function workers()
  local found = {}
  for _, pid in ipairs(vim.fn.systemlist('pgrep -f ' .. vim.fn.shellescape(vim.env.ZONELENS_SERVER .. ' worker'))) do
    local parent = vim.fn.systemlist('ps -o ppid= -p ' .. pid)[1]
    local grandparent = parent and vim.fn.systemlist('ps -o ppid= -p ' .. vim.trim(parent))[1]
    if grandparent and tonumber(vim.trim(grandparent)) == vim.fn.getpid() then
      table.insert(found, pid)
    end
  end
  return found
end

-- More than 20 values of a select variable, and 2,048 ways to receive a broadcast.
local MANY = {
  'broadcast chan all;',
  'int[0,30] picked;',
  'process Source() { state choosing, sent; init choosing; trans',
  '  choosing -> choosing { select k : int[1,30]; guard picked == 0; assign picked = k; },',
  '  choosing -> sent { guard picked > 0; sync all!; }; }',
  'process Listener(const int[1,11] i) { state quiet, left, right; init quiet; trans',
  '  quiet -> left { sync all?; },',
  '  quiet -> right { sync all?; }; }',
  'system Source, Listener;',
}

-- Puts the cursor on the first line of the simulator with a text and presses keys there.
local function press_at(text, keys)
  local line = t.line_of(simulate.current().buffer, text)
  vim.api.nvim_win_set_cursor(vim.fn.win_findbuf(simulate.current().buffer)[1], { line + 1, 0 })
  press(keys)
end

-- Folded groups, receivers one by one, random walks to an end, saved walks, a worker that is killed.
local function many()
  vim.fn.writefile(MANY, vim.env.ZONELENS_WORK .. '/many.xta')
  local model = t.open('many.xta')
  t.wait('the server', function()
    return t.has_lens(model, nil, 'process')
  end)
  vim.cmd('Zonelens simulate')
  at_step(0)
  t.check(page():find('choosing → choosing, 30 choices from 0 on', 1, true), 'the group is folded:\n' .. page())
  t.check(not page():find('k = 7', 1, true), 'its transitions are not listed')
  press_at('30 choices', '<CR>')
  t.check(page():find('[k = 7]', 1, true), 'they are now:\n' .. page())
  press_at('[k = 7]', '<CR>')
  at_step(1)
  t.check(page():find('picked = 7', 1, true), 'the value that was chosen:\n' .. page())

  -- Each listener is asked.
  local function asked(number, left)
    local text = ('Choose what Listener(%d) does (%d left)'):format(number, left)
    t.wait(text, function()
      return page():find(text, 1, true) ~= nil
    end)
  end
  press_at('sent', '<CR>')
  asked(1, 11)
  press('p')
  t.wait('the choice to be taken back', function()
    return not page():find('Choose what', 1, true)
  end)
  press_at('sent', '<CR>')
  for i = 1, 11 do
    asked(i, 12 - i)
    press((i % 2) .. '<CR>')
  end
  at_step(2)
  t.check(page():find('Listener(1) = right', 1, true) and page():find('Listener(2) = left', 1, true), 'each went where it was sent:\n' .. page())

  -- Saved as JSON and text, opened again; another model says where it must end.
  local json, text = vim.env.ZONELENS_WORK .. '/walk.json', vim.env.ZONELENS_WORK .. '/walk.txt'
  for _, name in ipairs({ json, text }) do
    vim.cmd('Zonelens save ' .. name)
    t.wait('the file ' .. name, function()
      return was_said('saved in ' .. name)
    end)
  end
  t.check(table.concat(vim.fn.readfile(text), '\n'):find('Listener(11): quiet → right', 1, true), 'the text names who moves')
  press('q')
  vim.fn.win_gotoid(vim.fn.win_findbuf(model)[1])
  vim.cmd('Zonelens simulate ' .. json)
  at_step(2)
  t.check(page():find('Listener(2) = left', 1, true), 'the saved walk:\n' .. page())
  vim.cmd('Zonelens simulate ' .. text)
  t.wait('a word about the text', function()
    return was_said('is not a saved walk')
  end)

  -- The worker is killed: the zone is not known any more, and the walk goes on.
  press('R')
  at_step(0)
  t.wait('the zone', function()
    return page():find('Zone: ', 1, true) and not page():find('Zone: …', 1, true)
  end)
  local running = workers()
  t.check(#running == 1, 'one worker: ' .. vim.inspect(running))
  vim.fn.system('kill -9 ' .. running[1])
  vim.cmd('Zonelens take 4')
  at_step(1)
  t.wait('no zone', function()
    return page():find('No zone: ', 1, true)
  end)
  press('p')
  at_step(0)

  -- Random walks to an expression, and what is not one.
  vim.cmd('Zonelens random until Source.sent')
  t.wait('the expression to hold', function()
    return simulate.current().state.state.locations.Source == 'sent'
  end)
  press('R')
  at_step(0)
  vim.cmd('Zonelens random 2 seed 5')
  at_step(2)
  vim.cmd('Zonelens random until nobody')
  t.wait('a word about nobody', function()
    return was_said('nobody')
  end)
  vim.cmd('Zonelens random x')
  t.check(was_said('write :Zonelens random'), 'the form of the command')
  press('q')
end

t.run(function()
  vim.cmd('Zonelens take 0')
  local model = t.open('fischer.xta')
  t.wait('the server', function()
    return t.has_lens(model, nil, 'verify')
  end)
  vim.cmd('Zonelens simulate')
  at_step(0)
  t.check(vim.bo[simulate.current().buffer].filetype == 'zonelens-simulation', 'the buffer has its filetype')
  t.check(page():find('Possible', 1, true) and page():find('after [0, ', 1, true), 'the lists are shown:\n' .. page())
  t.check(page():find('Locations', 1, true), 'who is where is shown')

  -- The zone comes by itself.
  t.wait('the zone', function()
    return page():find('Zone: ', 1, true) and not page():find('Zone: …', 1, true)
  end)

  -- <CR> on the first choice, then a number.
  press('<CR>')
  at_step(1)
  local marked = simulate.marked(model)
  local edge = simulate.current().state.walk[1].transition.edges[1]
  t.check(#marked > 0 and marked[1] == edge.range.start.line, 'the edge just taken is marked')
  t.check(page():find('● was', 1, true), 'changes are marked:\n' .. page())
  local text = vim.api.nvim_buf_get_lines(model, marked[1], marked[1] + 1, false)[1]
  t.check(text:find('->', 1, true), 'on the line of an edge: ' .. text)
  if not vim.lsp.inlay_hint then
    t.wait('hints', function()
      for _, label in pairs(require('zonelens.trace').hint_lines(model)) do
        if label:find('①', 1, true) then
          return true
        end
      end
      return false
    end)
  end
  press('1<CR>')
  at_step(2)
  press('p')
  at_step(1)
  press('n')
  at_step(2)
  press('r')
  at_step(3)

  -- Time: a fraction that is allowed, and one that is not a delay.
  press('R')
  at_step(0)
  vim.cmd('Zonelens delay 3/2')
  t.wait('time to pass', function()
    return simulate.current().state.waited == '3/2'
  end)
  t.check(page():find('t = 3/2', 1, true), 'the time is shown')
  vim.cmd('Zonelens delay x')
  t.wait('a word about it', function()
    return was_said('is not a delay')
  end)
  vim.ui.input = function(_, answer)
    answer('1/2')
  end
  press('d')
  t.wait('more time to pass', function()
    return simulate.current().state.waited == '2'
  end)
  press('99<CR>')
  t.wait('the refusal', function()
    return page():find('! there is no transition 99', 1, true)
  end)

  -- A comment above keeps the walk and moves the marks.
  press('p')
  t.wait('no time', function()
    return simulate.current().state.waited == '0'
  end)
  press('<CR>')
  at_step(1)
  local before = simulate.marked(model)[1]
  vim.api.nvim_buf_set_lines(model, 0, 0, false, { '// above' })
  t.wait('the marks to move', function()
    return step() == 1 and simulate.marked(model)[1] == before + 1 and simulate.current().state.walk[1].transition.edges[1].range.start.line == before + 1
  end)

  -- The end: nothing is left in the model.
  local buffer = simulate.current().buffer
  press('q')
  t.check(simulate.current() == nil and not vim.api.nvim_buf_is_valid(buffer), 'the split is gone')
  t.check(#simulate.marked(model) == 0, 'the marks are gone')

  -- The page of a rule and the fixes, from the first column of the line.
  vim.fn.win_gotoid(vim.fn.win_findbuf(model)[1])
  local line = t.replace(model, 'id = i,', 'id = id + 1,')
  t.wait('the diagnostic', function()
    return #vim.diagnostic.get(model, { lnum = line }) > 0
  end)
  vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
  vim.cmd('Zonelens explain')
  local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  t.check(shown:find('sym/arithmetic', 1, true), 'the page of the rule:\n' .. shown)
  vim.cmd('close')
  vim.fn.win_gotoid(vim.fn.win_findbuf(model)[1])
  local offered = nil
  vim.ui.select = function(items, _, choose)
    offered = items
    choose(items[1])
  end
  vim.cmd('Zonelens fix')
  t.wait('the fix', function()
    return offered and #vim.diagnostic.get(model, { lnum = line }) == 0
  end)
  many()
end)
