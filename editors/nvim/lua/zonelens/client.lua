-- The client: one server for all models of a session.
local M = {}

local client_id = nil

local function options()
  return require('zonelens').options
end

--- The running client, or nil.
function M.get()
  return client_id and vim.lsp.get_client_by_id(client_id) or nil
end

--- Buffers the server is attached to.
function M.buffers()
  local out = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if client_id and vim.api.nvim_buf_is_loaded(bufnr) and vim.lsp.buf_is_attached(bufnr, client_id) then
      table.insert(out, bufnr)
    end
  end
  return out
end

local function root_of(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  local directory = vim.fn.fnamemodify(name, ':p:h')
  local at = directory
  while true do
    for _, marker in ipairs({ 'zonelens.toml', '.git' }) do
      local found = at .. '/' .. marker
      if vim.fn.filereadable(found) == 1 or vim.fn.isdirectory(found) == 1 then
        return at
      end
    end
    local parent = vim.fn.fnamemodify(at, ':h')
    if parent == at then
      return directory
    end
    at = parent
  end
end

local function configuration(bufnr)
  local chosen = options()
  local init_options = vim.tbl_extend('force', { statusNotifications = true }, chosen.settings)
  return {
    name = 'zonelens',
    cmd = chosen.cmd,
    root_dir = root_of(bufnr),
    init_options = init_options,
    settings = { zonelens = chosen.settings },
    get_language_id = function(_, filetype)
      return filetype
    end,
    handlers = {
      ['zonelens/status'] = function()
        require('zonelens.lens').refresh_all()
        require('zonelens.trace').refresh_hints()
        return vim.NIL
      end,
    },
    commands = {
      -- The lens over a query with a trace: the answer opens the split.
      ['zonelens.trace.open'] = function(command)
        require('zonelens.trace').open(command.arguments[1])
      end,
    },
    on_attach = function(client, buffer)
      if chosen.lenses then
        require('zonelens.lens').attach(client, buffer)
      end
      if chosen.on_attach then
        chosen.on_attach(client, buffer)
      end
    end,
    on_exit = function(code)
      client_id = nil
      if code ~= 0 then
        vim.schedule(function()
          vim.notify('zonelens: the server ended with status ' .. code .. '; :Zonelens restart starts it again', vim.log.levels.WARN)
        end)
      end
    end,
  }
end

--- Starts the server if need be and attaches it to a buffer.
function M.start(bufnr)
  if not M.get() then
    local cmd = options().cmd
    if vim.fn.executable(cmd[1]) == 0 then
      vim.notify('zonelens: ' .. cmd[1] .. ' is not an executable; see :help zonelens-setup', vim.log.levels.ERROR)
      return
    end
    client_id = vim.lsp.start_client(configuration(bufnr))
  end
  if client_id then
    vim.lsp.buf_attach_client(bufnr, client_id)
  end
end

--- Ends the server.
function M.stop()
  local client = M.get()
  if client then
    vim.lsp.stop_client(client_id)
  end
  client_id = nil
end

--- Sends a request; `callback(err, result)`.
function M.request(method, params, callback, bufnr)
  local client = M.get()
  if not client then
    return
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, callback, bufnr or 0)
  else
    client.request(method, params, callback, bufnr or 0)
  end
end

--- Runs a server command; `callback(err, result)` may be nil.
function M.execute(command, argument, callback, bufnr)
  if not M.get() then
    vim.notify('zonelens: no server is running here', vim.log.levels.WARN)
    return
  end
  local params = { command = command, arguments = { argument } }
  local function on_answer(err, result)
    if err then
      vim.notify('zonelens: ' .. (err.message or vim.inspect(err)), vim.log.levels.ERROR)
    end
    if callback then
      callback(err, result)
    end
  end
  M.request('workspace/executeCommand', params, on_answer, bufnr)
end

return M
