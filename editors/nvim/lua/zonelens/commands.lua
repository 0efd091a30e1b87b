-- :Zonelens …
local M = {}

local function here()
  return { uri = vim.uri_from_bufnr(0), line = vim.api.nvim_win_get_cursor(0)[1] - 1 }
end

local function execute(command, argument, callback)
  require('zonelens.client').execute(command, argument, callback)
end

local actions = {}

--- Runs the query under or above the cursor.
actions['verify'] = function()
  execute('zonelens.verify', here())
end

--- Runs all queries of the file.
actions['verify-all'] = function()
  execute('zonelens.verifyAll', { uri = vim.uri_from_bufnr(0) })
end

--- Stops all runs.
actions['cancel'] = function()
  execute('zonelens.cancel', vim.empty_dict(), function(err, result)
    if not err and result then
      vim.notify(('zonelens: %d stopped'):format(result.cancelled))
    end
  end)
end

--- Shows the state of the queries of the file.
actions['status'] = function()
  execute('zonelens.status', { uri = vim.uri_from_bufnr(0) }, function(err, result)
    if err or not result then
      return
    end
    if #result == 0 then
      vim.notify('zonelens: no query here')
      return
    end
    local lines = {}
    for _, query in ipairs(result) do
      local state = query.state == 'never' and 'not verified yet' or query.state
      state = state .. (query.stale and ' (stale)' or '')
      -- `passes` is neither true nor false while there is no verdict.
      local mark = query.passes == true and '✓' or query.passes == false and '✗' or ' '
      table.insert(lines, ('%4d  %s %-18s  %s'):format(query.line, mark, state, query.query))
    end
    vim.notify(table.concat(lines, '\n'))
  end)
end

--- Opens the trace of the query under or above the cursor.
actions['trace'] = function()
  require('zonelens.trace').open(here())
end

--- Step through the open trace or walk.
actions['next'] = function()
  local simulate = require('zonelens.simulate')
  if simulate.current() then
    simulate.forward()
    return
  end
  require('zonelens.trace').move('zonelens.trace.next')
end
actions['prev'] = function()
  local simulate = require('zonelens.simulate')
  if simulate.current() then
    simulate.back()
    return
  end
  require('zonelens.trace').move('zonelens.trace.previous')
end
actions['first'] = function()
  require('zonelens.trace').move('zonelens.trace.first')
end
actions['last'] = function()
  require('zonelens.trace').move('zonelens.trace.last')
end

--- Goes to a step of the open trace.
actions['goto'] = function(step)
  local number = tonumber(step)
  if not number then
    vim.notify('zonelens: :Zonelens goto needs the number of a step', vim.log.levels.ERROR)
    return
  end
  require('zonelens.trace').move('zonelens.trace.goto', { step = number })
end

--- Goes to the step under the cursor of the trace split.
actions['here'] = function()
  local step = require('zonelens.trace').step_at_cursor()
  if step then
    require('zonelens.trace').move('zonelens.trace.goto', { step = step })
  end
end

--- Closes the trace or the simulation.
actions['close'] = function()
  require('zonelens.trace').forget()
  require('zonelens.simulate').forget()
  execute('zonelens.trace.close', vim.empty_dict())
end

--- Starts a simulation of the model, with a file at the end of the walk that is saved there.
actions['simulate'] = function(...)
  local uri = vim.uri_from_bufnr(0)
  local file = table.concat({ ... }, ' ')
  if file == '' then
    require('zonelens.simulate').start({ uri = uri })
  else
    require('zonelens.simulate').reopen(uri, vim.fn.fnamemodify(file, ':p'))
  end
end

--- Walks at random in the simulation.
actions['random'] = function(...)
  require('zonelens.simulate').random({ ... })
end

--- Saves the open walk or trace in a file.
actions['save'] = function(...)
  local file = table.concat({ ... }, ' ')
  if file == '' then
    vim.notify('zonelens: :Zonelens save needs the name of a file', vim.log.levels.ERROR)
    return
  end
  require('zonelens.simulate').save(vim.fn.fnamemodify(file, ':p'))
end

--- Starts a simulation from the step of the open trace: in its split from the one under the cursor.
actions['simulate-here'] = function()
  local trace = require('zonelens.trace')
  local open = trace.current()
  if not open then
    vim.notify('zonelens: no trace is open; :Zonelens trace opens one', vim.log.levels.WARN)
    return
  end
  local here_too = vim.api.nvim_get_current_buf() == open.buffer
  local step = here_too and trace.step_at_cursor() or open.step.step
  require('zonelens.simulate').start({ uri = open.step.uri, query = open.step.query, step = step })
end

--- Lets time pass in the simulation.
actions['delay'] = function(delay)
  require('zonelens.simulate').delay(delay)
end

--- Takes the transition with a number.
actions['take'] = function(number)
  if not tonumber(number) then
    vim.notify('zonelens: :Zonelens take needs the number of a transition', vim.log.levels.ERROR)
    return
  end
  require('zonelens.simulate').take(tonumber(number))
end

--- Shows the page of a rule: of the diagnostic under the cursor, or of a code.
actions['explain'] = function(code)
  require('zonelens.explain').show(code)
end

--- Offers the fixes of the cursor's line.
actions['fix'] = function()
  require('zonelens.explain').fix()
end

--- Lists what the model never does.
actions['coverage'] = function()
  require('zonelens.coverage').show()
end

--- Deletes all results.
actions['clear'] = function()
  execute('zonelens.clearResults', vim.empty_dict())
end

--- Ends the server and starts it again.
actions['restart'] = function()
  local client = require('zonelens.client')
  local buffers = client.buffers()
  client.stop()
  vim.defer_fn(function()
    for _, bufnr in ipairs(buffers) do
      client.start(bufnr)
    end
  end, 300)
end

--- Runs a subcommand.
function M.run(arguments)
  local name = arguments[1] or 'status'
  local action = actions[name]
  if not action then
    vim.notify('zonelens: there is no command ' .. name .. '; there are ' .. table.concat(M.names(), ', '), vim.log.levels.ERROR)
    return
  end
  action(unpack(arguments, 2))
end

--- All subcommands.
function M.names()
  local names = vim.tbl_keys(actions)
  table.sort(names)
  return names
end

--- Completes subcommands.
function M.complete(lead, line)
  if #vim.split(vim.trim(line), '%s+') > 2 then
    return {}
  end
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, M.names())
end

M.actions = actions

return M
