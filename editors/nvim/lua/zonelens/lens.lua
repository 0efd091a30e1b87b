-- Lenses: shown above queries, fetched again whenever a state or the text changes.
local M = {}

-- Since 0.12 Neovim keeps lenses up to date itself.
local native = vim.lsp.codelens.enable ~= nil

local function fetch(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  local function on_lenses(err, result, ctx, config)
    if not err and vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.codelens.on_codelens(err, result or {}, ctx, config)
    end
  end
  require('zonelens.client').request('textDocument/codeLens', params, on_lenses, bufnr)
end

--- Fetches the lenses of a buffer.
function M.refresh(bufnr)
  if native then
    return
  end
  fetch(bufnr)
end

--- Fetches the lenses of all buffers with a model or queries.
function M.refresh_all()
  for _, bufnr in ipairs(require('zonelens.client').buffers()) do
    M.refresh(bufnr)
  end
end

--- Shows lenses in a buffer from now on.
function M.attach(_, bufnr)
  if native then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
    return
  end
  local group = vim.api.nvim_create_augroup('zonelens_lens_' .. bufnr, { clear = true })
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged', 'CursorHold' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      M.refresh(bufnr)
    end,
  })
  M.refresh(bufnr)
end

--- The titles of the lenses in a buffer, in order of the lines: { {line=, title=} … }.
function M.titles(bufnr)
  local out = {}
  for _, lens in ipairs(vim.lsp.codelens.get(native and { bufnr = bufnr } or bufnr)) do
    local inner = lens.lens or lens
    if inner.command then
      table.insert(out, { line = inner.range.start.line, title = inner.command.title })
    end
  end
  table.sort(out, function(a, b)
    return a.line < b.line
  end)
  return out
end

return M
