-- Zonelens for Neovim's built-in client: 0.7 (Debian stable) and newer.
local M = {}

local defaults = {
  -- The server's command line.
  cmd = { 'zonelens', 'lsp' },
  -- Start the server when a model or a query file is opened.
  autostart = true,
  -- Show lenses and keep them up to date.
  lenses = true,
  -- Sent to the server: symmetry, search, trace, threads, memory, timeout, verifyOnSave, cancelOnEdit, severity.
  settings = {},
  -- Called with (client, bufnr) when the server is attached.
  on_attach = nil,
}

M.options = vim.deepcopy(defaults)

--- Changes the options above; call it before a model is opened.
function M.setup(options)
  M.options = vim.tbl_deep_extend('force', vim.deepcopy(defaults), options or {})
end

--- Starts the server for a buffer, or attaches the one that runs.
function M.attach(bufnr)
  bufnr = (bufnr == nil or bufnr == 0) and vim.api.nvim_get_current_buf() or bufnr
  if M.options.autostart then
    require('zonelens.client').start(bufnr)
  end
end

return M
