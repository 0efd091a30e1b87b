-- Shared by the tests: waiting, and leaving with the right exit status.
local M = {}

--- Waits until `condition()` is true; fails with `what` after `seconds`.
function M.wait(what, condition, seconds)
  if not vim.wait((seconds or 20) * 1000, condition, 50) then
    local lenses = vim.tbl_map(function(lens)
      return lens.line .. ': ' .. lens.title
    end, require('zonelens.lens').titles(0))
    error('timeout while waiting for:  ' .. what .. '\nlenses:\n' .. table.concat(lenses, '\n'), 2)
  end
end

--- Fails unless `condition`.
function M.check(condition, what)
  if not condition then
    error('failed: ' .. what, 2)
  end
end

--- Opens a file of the working directory.
function M.open(name)
  vim.cmd('edit ' .. vim.env.ZONELENS_WORK .. '/' .. name)
  return vim.api.nvim_get_current_buf()
end

--- The 0-based number of the first line that contains `text`.
function M.line_of(bufnr, text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then
      return i - 1
    end
  end
  error('no line with ' .. text, 2)
end

--- Replaces `old` by `new` in the first line that contains it.
function M.replace(bufnr, old, new)
  local line = M.line_of(bufnr, old)
  local text = vim.api.nvim_buf_get_lines(bufnr, line, line + 1, false)[1]
  local start, stop = text:find(old, 1, true)
  vim.api.nvim_buf_set_text(bufnr, line, start - 1, line, stop, { new })
  return line
end

--- Whether a lens on `line` has a title with `text`; without `line`, any lens.
function M.has_lens(bufnr, line, text)
  for _, lens in ipairs(require('zonelens.lens').titles(bufnr)) do
    if (line == nil or lens.line == line) and lens.title:find(text, 1, true) then
      return true
    end
  end
  return false
end

local function clients()
  return (vim.lsp.get_clients or vim.lsp.get_active_clients)()
end

--- Runs `test` and leaves Neovim.
function M.run(test)
  local ok, message = xpcall(test, debug.traceback)
  if not ok then
    io.stderr:write(tostring(message) .. '\n')
    local log = io.open(vim.lsp.get_log_path(), 'r')
    if log then
      io.stderr:write(log:read('*a'))
      log:close()
    end
    vim.cmd('cquit 1')
  end
  -- Neovim 0.10 may be killed by SIGPIPE if it ends while the server does: it still writes then.
  vim.lsp.stop_client(clients())
  vim.wait(5000, function()
    return #clients() == 0
  end, 20)
  vim.cmd('qall!')
end

return M
