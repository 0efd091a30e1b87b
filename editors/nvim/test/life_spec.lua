-- Events of a long session: fixes offered, runs cancelled, a server of another version, a server that dies.
package.path = vim.env.ZONELENS_PLUGIN .. '/test/?.lua;' .. package.path
local t = require('harness')

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

-- Asks for the fixes on a line and applies the first one: what vim.lsp.buf.code_action() does after the choice.
local function fix(bufnr, line)
  local client = require('zonelens.client')
  local position = { line = line, character = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1]:find('id + 1', 1, true) - 1 }
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = { start = position, ['end'] = position },
    context = { diagnostics = {} },
  }
  local actions = nil
  client.request('textDocument/codeAction', params, function(_, result)
    actions = result or {}
  end, bufnr)
  t.wait('fixes', function()
    return actions ~= nil
  end)
  t.check(#actions > 0, 'a fix is offered')
  vim.lsp.util.apply_workspace_edit(actions[1].edit, client.get().offset_encoding or 'utf-16')
  return actions[1].title
end

local function pid_of_server()
  for _, path in ipairs(vim.fn.glob('/proc/[0-9]*/cmdline', true, true)) do
    local file = io.open(path, 'rb')
    local words = file and vim.split(file:read('*a'), '\0') or {}
    if file then
      file:close()
    end
    local status = io.open(path:gsub('cmdline', 'status'), 'r')
    local parent = status and tonumber(status:read('*a'):match('PPid:%s*(%d+)'))
    if status then
      status:close()
    end
    if words[1] == vim.env.ZONELENS_SERVER and words[2] == 'lsp' and parent == vim.fn.getpid() then
      return tonumber(path:match('%d+'))
    end
  end
end

t.run(function()
  -- A plugin whose version differs from that of the server warns about it.
  package.loaded['zonelens.version'] = '9.9.9'
  local fischer = t.open('fischer.xta')
  t.wait('a word about versions', function()
    return was_said('this plugin is 9.9.9')
  end)
  package.loaded['zonelens.version'] = nil

  -- The quick fix.
  local query = t.line_of(fischer, '//@ query A[] forall')
  t.wait('the verify lens', function()
    return t.has_lens(fischer, query, 'verify')
  end)
  local line = t.replace(fischer, 'id = i,', 'id = id + 1,')
  t.wait('the diagnostic', function()
    return #vim.diagnostic.get(fischer, { lnum = line }) > 0
  end)
  fix(fischer, line)
  t.wait('the diagnostic to go', function()
    return #vim.diagnostic.get(fischer, { lnum = line }) == 0
  end)
  t.replace(fischer, 'id = id,', 'id = i,')

  -- A run that would not end.
  local slow = t.open('slow.xta')
  local long = t.line_of(slow, '//@ query')
  t.wait('its lens', function()
    return t.has_lens(slow, long, '▶ verify')
  end)
  vim.api.nvim_win_set_cursor(0, { long + 1, 0 })
  vim.cmd('Zonelens verify')
  t.wait('it runs', function()
    return t.has_lens(slow, long, '◌')
  end)
  vim.cmd('Zonelens cancel')
  t.wait('it is cancelled', function()
    return was_said('1 stopped') and t.has_lens(slow, long, '⊘ cancelled · verify')
  end)

  -- The server dies.
  vim.cmd('buffer ' .. fischer)
  local pid = pid_of_server()
  t.check(pid ~= nil, 'the server is a child of this Neovim')
  vim.loop.kill(pid, 'sigkill')
  t.wait('a word about its end', function()
    return was_said('was restarted')
  end)
  t.wait('another server', function()
    local now = pid_of_server()
    return now ~= nil and now ~= pid
  end)
  t.wait('lenses as before', function()
    require('zonelens.lens').refresh(fischer)
    return t.has_lens(fischer, query, 'verify')
  end)

  -- Completion of the command.
  local names = vim.fn.getcompletion('Zonelens ver', 'cmdline')
  t.check(vim.tbl_contains(names, 'verify') and vim.tbl_contains(names, 'verify-all'), 'subcommands are completed')
end)
