-- The client: one server for all models of a session.
local M = {}

local client_id = nil
local attached = {}
-- The client that was asked to end: its end is expected.
local stopping = nil
-- The times at which the server ended unexpectedly, in seconds. After too many, it is not restarted.
local deaths = {}
local MAX_DEATHS = 5
local WITHIN_SECONDS = 180

local function options()
  return require('zonelens').options
end

--- The running client, or nil.
function M.get()
  return client_id and vim.lsp.get_client_by_id(client_id) or nil
end

--- Buffers the server was started for or attached to: a client that has ended no longer knows them.
function M.buffers()
  return vim.tbl_filter(function(bufnr)
    return attached[bufnr] and vim.api.nvim_buf_is_loaded(bufnr)
  end, vim.api.nvim_list_bufs())
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

-- After an unexpected end the server is restarted, with a message.
local function ended(code, signal, id)
  local expected = id == stopping or vim.v.exiting ~= vim.NIL
  local buffers = id == client_id and M.buffers() or {}
  if id == client_id then
    client_id = nil
  end
  if expected or (code == 0 and signal == 0) then
    return
  end
  local now = vim.fn.localtime()
  deaths = vim.tbl_filter(function(at)
    return now - at < WITHIN_SECONDS
  end, deaths)
  table.insert(deaths, now)
  if #deaths >= MAX_DEATHS then
    vim.notify('zonelens: the server ended ' .. #deaths .. ' times within three minutes and is not restarted; use :Zonelens restart', vim.log.levels.ERROR)
    return
  end
  require('zonelens.trace').forget()
  require('zonelens.simulate').forget()
  for _, bufnr in ipairs(buffers) do
    M.start(bufnr)
  end
  vim.notify('zonelens: the server ended unexpectedly and was restarted; running queries were lost', vim.log.levels.WARN)
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
      ['zonelens/traceChanged'] = function(_, change)
        require('zonelens.simulate').trace_changed(change)
        require('zonelens.trace').changed(change)
        return vim.NIL
      end,
      ['zonelens/simulationChanged'] = function(_, state)
        require('zonelens.simulate').changed(state)
        return vim.NIL
      end,
    },
    commands = {
      -- The lens above a query with a trace: the answer opens the split.
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
    on_init = function(_, result)
      M.warn_of_other_version(result and result.serverInfo and result.serverInfo.version)
    end,
    on_exit = function(code, signal, id)
      vim.schedule(function()
        ended(code, signal, id)
      end)
    end,
  }
end

--- Warns if the version of the server, `0.1.0 (commit)`, differs from that of this plugin.
function M.warn_of_other_version(version)
  local own = require('zonelens.version')
  local theirs = version and vim.split(version, ' ')[1]
  if theirs and theirs ~= own then
    local message = ('zonelens: the server is version %s, this plugin is %s; use the same version of both'):format(theirs, own)
    vim.schedule(function()
      vim.notify(message, vim.log.levels.WARN)
    end)
  end
end

--- Starts the server if necessary and attaches it to a buffer.
function M.start(bufnr)
  if not M.get() then
    local cmd = options().cmd
    if vim.fn.executable(cmd[1]) == 0 then
      vim.notify('zonelens: ' .. cmd[1] .. ' is not an executable; see :help zonelens-setup', vim.log.levels.ERROR)
      return
    end
    -- One function exists since 0.8, the other was removed in 0.12.
    local start = vim.lsp.start or vim.lsp.start_client
    client_id = start(configuration(bufnr), {
      bufnr = bufnr,
      -- A client that has just ended may still be listed.
      reuse_client = function()
        return false
      end,
    })
  end
  if client_id then
    attached[bufnr] = true
    vim.lsp.buf_attach_client(bufnr, client_id)
  end
end

--- Ends the server.
function M.stop()
  local client = M.get()
  if client then
    stopping = client_id
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
