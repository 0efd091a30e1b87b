-- End-to-end test: an unsound line is reported and fixed, the protocol verified, the broken one refuted.
package.path = vim.env.ZONELENS_PLUGIN .. '/test/?.lua;' .. package.path
local t = require('harness')

local function diagnostics(bufnr, code)
  return vim.tbl_filter(function(d)
    return (d.code or (d.user_data and d.user_data.lsp and d.user_data.lsp.code)) == code
  end, vim.diagnostic.get(bufnr))
end

t.run(function()
  local fischer = t.open('fischer.xta')
  t.check(vim.bo.filetype == 'xta', 'fischer.xta has filetype xta')
  local query = t.line_of(fischer, '//@ query A[] forall')
  t.wait('the verify lens', function()
    return t.has_lens(fischer, query, 'verify')
  end)

  local line = t.replace(fischer, 'id = i,', 'id = i + 1,')
  t.wait('sym/arithmetic', function()
    return #diagnostics(fischer, 'sym/arithmetic') > 0
  end)
  local found = diagnostics(fischer, 'sym/arithmetic')[1]
  t.check(found.lnum == line, 'the diagnostic is on line ' .. line .. ', not ' .. found.lnum)
  local text = vim.api.nvim_buf_get_lines(fischer, line, line + 1, false)[1]
  local column = text:find('i + 1', 1, true) - 1
  t.check(found.col >= column and found.col <= column + 4, 'the diagnostic is under `i + 1`')

  t.replace(fischer, 'id = i + 1,', 'id = i,')
  t.wait('the diagnostic to go', function()
    return #diagnostics(fischer, 'sym/arithmetic') == 0
  end)

  vim.api.nvim_win_set_cursor(0, { query + 1, 0 })
  t.wait('the lens to run', function()
    return t.has_lens(fischer, query, '▶ verify')
  end)
  vim.lsp.codelens.run()
  t.wait('satisfied', function()
    return t.has_lens(fischer, query, '✓ satisfied')
  end, 60)

  local broken = t.open('fischer-broken.xta')
  local refuted = t.line_of(broken, '//@ query A[] forall')
  t.wait('the lens of the broken model', function()
    return t.has_lens(broken, refuted, '▶ verify')
  end)
  vim.api.nvim_win_set_cursor(0, { refuted + 1, 0 })
  vim.cmd('Zonelens verify')
  t.wait('violated', function()
    return t.has_lens(broken, refuted, '✗ violated')
  end, 60)
end)
