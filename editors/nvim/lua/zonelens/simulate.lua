-- The simulator: a buffer with what can happen next, numbered; the walk so far is hinted in the model.
local M = {}

-- The edges just taken, and those of the transition under the cursor.
local marks = vim.api.nvim_create_namespace('zonelens_simulation_edges')
local pointed = vim.api.nvim_create_namespace('zonelens_simulation_pointed')

-- The most transitions of a random walk.
local MOST_RANDOM = 10000

-- The open simulation: { buffer, state, rows (1-based line -> what <CR> does there), opened (groups), typed (digits) }.
local current = nil
-- A state that came before the answer to the command that started its simulation.
local early = nil

local function client()
  return require('zonelens.client')
end

-- JSON's null is a value of its own.
local function given(value)
  if value == vim.NIL then
    return nil
  end
  return value
end

local function model_buffer(state)
  local bufnr = vim.uri_to_bufnr(state.model)
  return vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

-- Of two states, the one to show. The zone of a walk comes after it, perhaps before the answer to the command that asked
-- for the walk: what is known of the zone stays, and so does what the answer says.
local function newer(state, than)
  if state.simulation ~= than.simulation then
    return state.simulation > than.simulation and state or than
  end
  if state.revision < than.revision then
    return than
  end
  if state.revision == than.revision and given(than.zone) and not given(state.zone) then
    return vim.tbl_extend('force', than, { message = state.message })
  end
  return state
end

-- Who takes part, with select values: `P(0): idle → req [k = 1]`.
local function words(transition)
  local parts = {}
  for _, edge in ipairs(transition.edges) do
    local select = {}
    for name, value in pairs(given(edge.select) or {}) do
      table.insert(select, name .. ' = ' .. value)
    end
    table.sort(select)
    local text = ('%s: %s → %s'):format(edge.process, edge.from, edge.to)
    table.insert(parts, #select > 0 and ('%s [%s]'):format(text, table.concat(select, ', ')) or text)
  end
  local text = table.concat(parts, ', ')
  local channel = given(transition.channel)
  return channel and ('%s  (%s)'):format(text, channel) or text
end

local function reason_text(reason)
  reason = given(reason)
  if not reason then
    return ''
  end
  return reason.line > 0 and ('%s (line %d)'):format(reason.message, reason.line) or reason.message
end

-- Lines of the buffer, and what <CR> does on them.
local function Page()
  local page = { lines = {}, rows = {} }
  function page.add(text, row)
    -- Whatever a name contains, a line stays a line.
    table.insert(page.lines, (text:gsub('\n', ' ')))
    page.rows[#page.lines] = row
  end
  function page.section(title)
    page.add('')
    page.add(title)
  end
  return page
end

local function add_choices(page, state)
  local choosing = given(state.choosing)
  if choosing then
    page.section(('Choose what %s does (%d left)'):format(choosing.process, choosing.left))
    for i, edge in ipairs(choosing.options) do
      page.add(('%4d  %s'):format(i - 1, words({ edges = { edge } })), { take = i - 1, edges = { edge } })
    end
    return
  end
  page.section('Possible')
  if #state.possible == 0 then
    page.add('      nothing, however long one waits')
  end
  local folded = {}
  for i, group in ipairs(state.groups) do
    local key = table.concat({ group.process, group.from, group.to }, ' ')
    if group.folded and not current.opened[key] then
      folded[i - 1] = true
      local text = ('   +  %s: %s → %s, %d choices from %d on; <CR> lists them'):format(group.process, group.from, group.to, group.count, group.first)
      page.add(text, { open = key })
    end
  end
  for _, choice in ipairs(state.possible) do
    if not folded[choice.group] then
      local text = ('%4d  %s'):format(choice.number, words(choice.transition))
      page.add(('%-44s  after %s'):format(text, choice.window), { take = choice.number, edges = choice.transition.edges })
    end
  end
  local others = given(state.otherDelays)
  if others and #others > 0 then
    page.section('Possible with other delays before')
    for _, choice in ipairs(others) do
      local text = ('%4d  %s'):format(choice.number, words(choice.transition))
      page.add(('%-44s  %s'):format(text, reason_text(choice.reason)), { take = choice.number, edges = choice.transition.edges })
    end
  end
  if #state.blocked > 0 then
    page.section('Blocked')
    for _, choice in ipairs(state.blocked) do
      local range = given(choice.reason.range)
      page.add(('      %-38s  %s'):format(words(choice.transition), reason_text(choice.reason)), {
        line = range and range.start.line,
        edges = choice.transition.edges,
      })
    end
  end
  if state.leftOut > 0 then
    page.add(('      and %d more that are not listed'):format(state.leftOut))
  end
end

local function add_values(page, title, now, before)
  local names = vim.tbl_keys(now)
  if #names == 0 then
    return
  end
  table.sort(names)
  page.section(title)
  for _, name in ipairs(names) do
    local value, was = tostring(now[name]), before and before[name]
    if was ~= nil and tostring(was) ~= value then
      page.add(('      %s = %s  ● was %s'):format(name, value, tostring(was)))
    else
      page.add(('      %s = %s'):format(name, value))
    end
  end
end

-- The zone in lines that fit beside the model.
local function zone_lines(zone)
  zone = given(zone)
  if not zone then
    return { 'Zone: …' }
  end
  if zone.kind == 'none' then
    return { 'No zone: ' .. zone.reason }
  end
  local lines = {}
  for i, piece in ipairs(zone.pieces) do
    local line = i == 1 and 'Zone: ' or '   or '
    for k, part in ipairs(vim.split(piece.text, ' && ', { plain = true })) do
      if k > 1 and vim.fn.strdisplaywidth(line .. part) > 64 then
        table.insert(lines, line .. '&&')
        line = '      '
      elseif k > 1 then
        line = line .. '&& '
      end
      line = line .. part .. ' '
    end
    table.insert(lines, (line:gsub(' $', '')))
  end
  return lines
end

local function render(state)
  local page = Page()
  local waited = state.waited ~= '0' and (', %s of it since the last step'):format(state.waited) or ''
  page.add(('Simulation of %s'):format(vim.fn.fnamemodify(vim.uri_to_fname(state.model), ':t')))
  page.add(('Step %d of %d, t = %s%s'):format(state.step, state.length, state.time, waited))
  local message = given(state.message)
  if message then
    page.add('! ' .. message)
  end
  if not state.complete then
    page.add('! not everything that may happen was examined')
  end
  add_choices(page, state)
  page.section(('Time may pass by %s: %s'):format(state.wait.window, state.wait.message))
  for _, line in ipairs(zone_lines(state.zone)) do
    page.add(line)
  end
  local previous = given(state.previous) or {}
  add_values(page, 'Locations', state.state.locations, previous.locations)
  add_values(page, 'Variables', state.state.variables, previous.variables)
  add_values(page, 'Clocks', state.state.clocks, previous.clocks)
  if #state.walk > 0 then
    page.section('Walk')
    for i, step in ipairs(state.walk) do
      local mark = i == state.step and '>' or ' '
      local fixed = step.fixed and ' (fixed)' or ''
      page.add((' %s%4d  after %s%s: %s'):format(mark, i, step.delay, fixed, words(step.transition)), { goto_step = i, edges = step.transition.edges })
    end
  end
  page.section('<CR> or number <CR> take · d delay · n forward · p back · r random · R restart · q close')
  return page
end

-- Marks whole lines of the model.
local function mark_edges(edges, namespace, group)
  local bufnr = current and model_buffer(current.state)
  if not bufnr then
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local last = vim.api.nvim_buf_line_count(bufnr)
  for _, edge in ipairs(edges or {}) do
    local range = given(edge.range)
    if range and range.start.line < last then
      local line = range.start.line
      vim.api.nvim_buf_set_extmark(bufnr, namespace, line, 0, { end_row = line + 1, end_col = 0, hl_group = group, hl_eol = true, strict = false })
    end
  end
end

-- The edges of the transition that led here.
local function last_edges(state)
  local step = state.walk[state.step]
  return step and step.transition.edges or {}
end

-- Moves the windows that show the model to an edge.
local function follow(edges)
  local bufnr = model_buffer(current.state)
  local range = edges[1] and given(edges[1].range)
  if not (bufnr and range) then
    return
  end
  local line = math.min(range.start.line + 1, vim.api.nvim_buf_line_count(bufnr))
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_set_cursor(window, { line, 0 })
  end
end

local function draw(state, moved)
  local page = render(state)
  current.state = state
  current.rows = page.rows
  local buffer = current.buffer
  vim.api.nvim_buf_set_option(buffer, 'modifiable', true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, page.lines)
  vim.api.nvim_buf_set_option(buffer, 'modifiable', false)
  mark_edges(last_edges(state), marks, 'DiffChange')
  mark_edges({}, pointed, 'Visual')
  if moved then
    follow(last_edges(state))
    for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
      -- The first choice, so that <CR> takes it.
      for line = 1, #page.lines do
        if page.rows[line] and (page.rows[line].take or page.rows[line].open) then
          vim.api.nvim_win_set_cursor(window, { line, 0 })
          break
        end
      end
    end
  end
  require('zonelens.trace').show_hints(state.model)
end

local function run(name, argument)
  if not current then
    vim.notify('zonelens: no simulation is open; :Zonelens simulate opens one', vim.log.levels.WARN)
    return
  end
  current.typed = ''
  client().execute('zonelens.simulation.' .. name, argument or vim.empty_dict(), function(err, result)
    if not err and current and type(result) == 'table' and result.simulation == current.state.simulation then
      draw(newer(result, current.state), true)
    end
  end)
end

--- Takes the transition with a number.
function M.take(number)
  if current then
    run('take', { number = number, revision = current.state.revision })
  end
end

--- Lets time pass; asks for how long if `delay` is nil.
function M.delay(delay)
  if delay and delay ~= '' then
    run('delay', { delay = delay })
    return
  end
  vim.ui.input({ prompt = 'Delay (2, 3/2 or 1.5): ' }, function(text)
    if text and text ~= '' then
      run('delay', { delay = vim.trim(text) })
    end
  end)
end

--- One step back, forward, at random; from the start again.
function M.back()
  run('back')
end
function M.forward()
  run('forward')
end
function M.restart()
  run('restart')
end

--- Walks at random. `words` are the command's: `9 seed 7 time 3/2 until P.done && n > 2`; without any, one transition.
function M.random(words)
  local options = {}
  local i = 1
  while words and words[i] do
    local word, value = words[i], words[i + 1]
    if word == 'until' then
      options['until'] = table.concat(words, ' ', i + 1)
      break
    elseif word == 'seed' and tonumber(value) then
      options.seed = tonumber(value)
      i = i + 2
    elseif word == 'time' and value then
      options.time = value
      i = i + 2
    elseif i == 1 and tonumber(word) then
      options.steps = tonumber(word)
      i = i + 1
    else
      vim.notify('zonelens: write :Zonelens random [STEPS] [seed N] [time T] [until EXPRESSION]', vim.log.levels.ERROR)
      return
    end
  end
  if not options.steps and (options.time or options['until']) then
    options.steps = MOST_RANDOM
  end
  -- Another seed for each step, the same ones in every simulation.
  options.seed = options.seed or current and current.state.length + 1
  run('random', options)
end

--- Writes the open walk or trace: as JSON, which `start` reads, or as text if the name ends with `.txt`.
function M.save(name)
  client().execute('zonelens.trace.export', vim.empty_dict(), function(err, result)
    if err or type(result) ~= 'table' then
      return
    end
    local text = name:match('%.txt$') and result.text or vim.json.encode(result.json)
    local file, why = io.open(name, 'w')
    if not file then
      vim.notify('zonelens: ' .. why, vim.log.levels.ERROR)
      return
    end
    file:write(text, '\n')
    file:close()
    vim.notify('zonelens: saved in ' .. name)
  end)
end

--- Starts a simulation at the end of a saved walk.
function M.reopen(uri, name)
  local file, why = io.open(name, 'r')
  if not file then
    vim.notify('zonelens: ' .. why, vim.log.levels.ERROR)
    return
  end
  local ok, walk = pcall(vim.json.decode, file:read('*a'))
  file:close()
  if not ok or type(walk) ~= 'table' then
    vim.notify(('zonelens: %s is not a saved walk'):format(name), vim.log.levels.ERROR)
    return
  end
  M.start({ uri = uri, walk = walk })
end

-- What <CR> does: the typed number, else what is on the line.
local function enter()
  if not current then
    return
  end
  if current.typed ~= '' then
    M.take(tonumber(current.typed))
    return
  end
  local row = current.rows[vim.api.nvim_win_get_cursor(0)[1]]
  if not row then
    return
  end
  if row.take then
    M.take(row.take)
  elseif row.goto_step then
    run('goto', { step = row.goto_step })
  elseif row.open then
    current.opened[row.open] = true
    draw(current.state, false)
  elseif row.line then
    local bufnr = model_buffer(current.state)
    local window = bufnr and vim.fn.win_findbuf(bufnr)[1]
    if window then
      vim.api.nvim_win_set_cursor(window, { math.min(row.line + 1, vim.api.nvim_buf_line_count(bufnr)), 0 })
    end
  end
end

local function digit(text)
  if current then
    current.typed = (current.typed .. text):sub(1, 9)
    vim.api.nvim_echo({ { 'take ' .. current.typed } }, false, {})
  end
end

-- 0.7 has keymaps with functions, in a table that later versions call vim.keymap too.
local function keys(buffer)
  local function map(lhs, action)
    vim.keymap.set('n', lhs, action, { buffer = buffer, silent = true, nowait = true })
  end
  for number = 0, 9 do
    map(tostring(number), function()
      digit(tostring(number))
    end)
  end
  map('<CR>', enter)
  map('n', M.forward)
  map('p', M.back)
  map('r', M.random)
  map('R', M.restart)
  map('d', function()
    M.delay()
  end)
  map('q', M.close)
  map('<Esc>', function()
    if current then
      current.typed = ''
    end
  end)
end

local function open_split()
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_option(buffer, 'bufhidden', 'wipe')
  vim.api.nvim_buf_set_option(buffer, 'filetype', 'zonelens-simulation')
  vim.cmd('botright vsplit')
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_win_set_option(0, 'wrap', false)
  vim.api.nvim_win_set_option(0, 'number', false)
  vim.api.nvim_win_set_option(0, 'cursorline', true)
  keys(buffer)
  -- Hovering a transition, in the way of an editor without a mouse: its edges are marked while the cursor is on it.
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = buffer,
    callback = function()
      if current and current.buffer == buffer then
        local row = current.rows[vim.api.nvim_win_get_cursor(0)[1]]
        mark_edges(row and row.edges, pointed, 'Visual')
      end
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    callback = function()
      if current and current.buffer == buffer then
        vim.schedule(M.close)
      end
    end,
  })
  return buffer
end

--- Starts a simulation: `{ uri }`, or `{ uri, query, step }` from a step of a trace.
function M.start(argument)
  client().execute('zonelens.simulation.start', argument, function(err, result)
    if err or type(result) ~= 'table' then
      return
    end
    M.forget()
    require('zonelens.trace').forget()
    local state = early and newer(result, early) or result
    early = nil
    current = { buffer = open_split(), state = state, rows = {}, opened = {}, typed = '' }
    draw(state, true)
  end)
end

--- The state came without a command: the zone, or another text.
function M.changed(state)
  if not current or state.simulation > current.state.simulation then
    early = state
  elseif newer(state, current.state) ~= current.state then
    draw(newer(state, current.state), false)
  end
end

--- What is open in the server is something else now.
function M.trace_changed(change)
  if current and not (change.open and change.simulation) then
    M.forget()
  end
end

--- Ends the simulation.
function M.close()
  if current then
    M.forget()
    client().execute('zonelens.simulation.stop', vim.empty_dict())
  end
end

--- Closes the split and removes marks and hints.
function M.forget()
  if not current then
    return
  end
  local gone = current
  current = nil
  local bufnr = model_buffer(gone.state)
  if bufnr then
    vim.api.nvim_buf_clear_namespace(bufnr, marks, 0, -1)
    vim.api.nvim_buf_clear_namespace(bufnr, pointed, 0, -1)
  end
  require('zonelens.trace').clear_hints(gone.state.model)
  if vim.api.nvim_buf_is_valid(gone.buffer) then
    vim.api.nvim_buf_delete(gone.buffer, { force = true })
  end
end

--- The open simulation, or nil.
function M.current()
  return current
end

--- The 0-based lines of the model that are marked: for tests and for other plugins.
function M.marked(bufnr)
  return vim.tbl_map(function(mark)
    return mark[2]
  end, vim.api.nvim_buf_get_extmarks(bufnr, marks, 0, -1, {}))
end

return M
