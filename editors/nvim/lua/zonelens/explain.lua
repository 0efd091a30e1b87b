-- The page of a rule, and the fixes of a line.
local M = {}

-- The code of the diagnostic nearest to the cursor on its line.
local function code_here()
  local position = vim.api.nvim_win_get_cursor(0)
  local best, distance = nil, math.huge
  for _, found in ipairs(vim.diagnostic.get(0, { lnum = position[1] - 1 })) do
    local code = found.code or (found.user_data and found.user_data.lsp and found.user_data.lsp.code)
    local away = math.abs(found.col - position[2])
    if type(code) == 'string' and code:find('/', 1, true) and away < distance then
      best, distance = code, away
    end
  end
  return best
end

--- Shows the page of a rule in a split: of `code`, or of the diagnostic under the cursor.
function M.show(code)
  code = code or code_here()
  if not code then
    vim.notify('zonelens: no diagnostic here; :Zonelens explain {code} shows the page of a rule', vim.log.levels.WARN)
    return
  end
  local page = vim.fn.systemlist({ require('zonelens').options.cmd[1], 'explain', code })
  if vim.v.shell_error ~= 0 then
    vim.notify('zonelens: ' .. table.concat(page, '\n'), vim.log.levels.ERROR)
    return
  end
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, page)
  vim.api.nvim_buf_set_option(buffer, 'modifiable', false)
  vim.api.nvim_buf_set_option(buffer, 'bufhidden', 'wipe')
  vim.api.nvim_buf_set_option(buffer, 'filetype', 'markdown')
  vim.cmd('botright ' .. math.min(#page + 1, 20) .. 'split')
  vim.api.nvim_win_set_buf(0, buffer)
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, silent = true, nowait = true })
  return buffer
end

--- Offers the fixes of the cursor's line, wherever on the line the cursor is.
function M.fix()
  local bufnr = vim.api.nvim_get_current_buf()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local client = require('zonelens.client')
  local context = { diagnostics = {} }
  for _, found in ipairs(vim.diagnostic.get(bufnr, { lnum = line })) do
    local lsp = found.user_data and found.user_data.lsp
    table.insert(context.diagnostics, {
      range = {
        start = { line = found.lnum, character = found.col },
        ['end'] = { line = found.end_lnum, character = found.end_col },
      },
      message = found.message,
      code = found.code or (lsp and lsp.code),
    })
  end
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = { start = { line = line, character = 0 }, ['end'] = { line = line + 1, character = 0 } },
    context = context,
  }
  client.request('textDocument/codeAction', params, function(err, actions)
    if err or not actions or #actions == 0 then
      vim.notify('zonelens: no fix for this line')
      return
    end
    local function apply(action)
      if action and action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client.get().offset_encoding or 'utf-16')
      end
    end
    vim.ui.select(actions, {
      prompt = 'Fix',
      format_item = function(action)
        return action.title
      end,
    }, apply)
  end, bufnr)
end

return M
