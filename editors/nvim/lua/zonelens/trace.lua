-- A trace in a split: one line per step, the current one marked, its edges hinted in the model.
local M = {}

local namespace = vim.api.nvim_create_namespace('zonelens_trace')
local hints = vim.api.nvim_create_namespace('zonelens_hints')
-- The lines of the edges that were just taken.
local edges = vim.api.nvim_create_namespace('zonelens_trace_edges')

-- The open trace: { buffer, lines (0-based start of each step), step (the last answer of the server), model }.
local current = nil

local function client()
  return require('zonelens.client')
end

local function buffer_of(uri)
  local bufnr = vim.uri_to_bufnr(uri)
  return vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

-- Neovim 0.10 shows inlay hints itself; before, they become virtual text at the end of the line.
local function native_hints()
  return vim.lsp.inlay_hint ~= nil
end

--- Shows the hints of the current step, of a trace or a simulation, in the model's buffer.
function M.refresh_hints()
  local simulation = require('zonelens.simulate').current()
  local shown = current and current.step or simulation and simulation.state
  if shown then
    M.show_hints(shown.model)
  end
end

-- The text of a hint away from its place: a location is named, because several may stand on one line.
local function label_of(bufnr, hint)
  local label = hint.label
  if not vim.startswith(label, '◉') then
    return label
  end
  local line = vim.api.nvim_buf_get_lines(bufnr, hint.position.line, hint.position.line + 1, false)[1] or ''
  local ok, byte = pcall(vim.str_byteindex, line, hint.position.character, true)
  local location = ok and line:sub(1, byte):match('[%w_]+$')
  return location and location .. ' ' .. label or label
end

--- Shows the hints in the buffer of a model.
function M.show_hints(uri)
  local bufnr = buffer_of(uri)
  if not bufnr then
    return
  end
  if native_hints() then
    local enable = vim.lsp.inlay_hint.enable
    pcall(enable, true, { bufnr = bufnr })
    return
  end
  local last = vim.api.nvim_buf_line_count(bufnr)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = { start = { line = 0, character = 0 }, ['end'] = { line = last, character = 0 } },
  }
  client().request('textDocument/inlayHint', params, function(err, result)
    if err or not vim.api.nvim_buf_is_loaded(bufnr) then
      return
    end
    vim.api.nvim_buf_clear_namespace(bufnr, hints, 0, -1)
    local by_line = {}
    for _, hint in ipairs(result or {}) do
      local line = hint.position.line
      by_line[line] = by_line[line] or {}
      table.insert(by_line[line], label_of(bufnr, hint))
    end
    for line, labels in pairs(by_line) do
      if line < vim.api.nvim_buf_line_count(bufnr) then
        vim.api.nvim_buf_set_extmark(bufnr, hints, line, 0, {
          -- Before the diagnostics of the line, whose text may fill the window.
          priority = 100,
          virt_text = { { '  ' .. table.concat(labels, ' · '), 'Comment' } },
        })
      end
    end
  end, bufnr)
end

--- Removes the hints from the buffer of a model.
function M.clear_hints(uri)
  local bufnr = buffer_of(uri)
  if bufnr then
    vim.api.nvim_buf_clear_namespace(bufnr, hints, 0, -1)
  end
end

--- The virtual text of the hints, by 0-based line: for tests and for other plugins.
function M.hint_lines(bufnr)
  local out = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, hints, 0, -1, { details = true })) do
    out[mark[2]] = mark[4].virt_text[1][1]
  end
  return out
end

local function mark_step()
  if not (current and vim.api.nvim_buf_is_valid(current.buffer)) then
    return
  end
  vim.api.nvim_buf_clear_namespace(current.buffer, namespace, 0, -1)
  local first = current.lines[current.step.step + 1]
  if not first then
    return
  end
  local after = current.lines[current.step.step + 2] or vim.api.nvim_buf_line_count(current.buffer)
  for line = first, after - 1 do
    vim.api.nvim_buf_add_highlight(current.buffer, namespace, 'Visual', line, 0, -1)
  end
  for _, window in ipairs(vim.fn.win_findbuf(current.buffer)) do
    vim.api.nvim_win_set_cursor(window, { first + 1, 0 })
  end
end

-- Marks the edges of the step as whole lines of the model.
local function mark_edges()
  local bufnr = buffer_of(current.step.model)
  if not bufnr then
    return
  end
  vim.api.nvim_buf_clear_namespace(bufnr, edges, 0, -1)
  local last = vim.api.nvim_buf_line_count(bufnr)
  for _, edge in ipairs(current.step.edges) do
    if edge.line < last then
      vim.api.nvim_buf_set_extmark(bufnr, edges, edge.line, 0, { end_row = edge.line + 1, end_col = 0, hl_group = 'DiffChange', hl_eol = true, strict = false })
    end
  end
end

--- The 0-based lines of the model that are marked: for tests and for other plugins.
function M.marked(bufnr)
  return vim.tbl_map(function(mark)
    return mark[2]
  end, vim.api.nvim_buf_get_extmarks(bufnr, edges, 0, -1, {}))
end

-- Moves the window that shows the model to the first edge of the step.
local function follow()
  local edge = current.step.edges[1]
  local bufnr = buffer_of(current.step.model)
  if not (edge and bufnr) then
    return
  end
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local line = math.min(edge.line + 1, vim.api.nvim_buf_line_count(bufnr))
    vim.api.nvim_win_set_cursor(window, { line, 0 })
  end
end

local function show(step)
  current.step = step
  mark_step()
  mark_edges()
  follow()
  M.refresh_hints()
end

local function keys(buffer)
  local function map(lhs, command)
    vim.api.nvim_buf_set_keymap(buffer, 'n', lhs, '<Cmd>Zonelens ' .. command .. '<CR>', { noremap = true, silent = true })
  end
  map('n', 'next')
  map('p', 'prev')
  map('gg', 'first')
  map('G', 'last')
  map('<CR>', 'here')
  map('q', 'close')
  map('s', 'simulate-here')
end

local function open_split(document)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(document.text, '\n'))
  vim.api.nvim_buf_set_option(buffer, 'modifiable', false)
  vim.api.nvim_buf_set_option(buffer, 'bufhidden', 'wipe')
  vim.api.nvim_buf_set_option(buffer, 'filetype', 'zonelens-trace')
  local before = vim.api.nvim_get_current_win()
  vim.cmd('botright 12split')
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_win_set_option(0, 'wrap', false)
  keys(buffer)
  vim.api.nvim_set_current_win(before)
  return buffer
end

--- Opens the trace that `zonelens.trace.open` returned.
function M.shown(result)
  M.forget()
  require('zonelens.simulate').forget()
  local buffer = open_split(result.document)
  current = { buffer = buffer, lines = result.document.lines, step = result }
  show(result)
end

--- Asks for the trace of the query under or above the cursor.
function M.open(argument)
  client().execute('zonelens.trace.open', argument, function(err, result)
    if not err and result then
      M.shown(result)
    end
  end)
end

--- Runs a stepping command.
function M.move(command, argument)
  if not current then
    vim.notify('zonelens: no trace is open; :Zonelens trace opens one', vim.log.levels.WARN)
    return
  end
  client().execute(command, argument or vim.empty_dict(), function(err, result)
    if not err and result and current then
      show(result)
    end
  end)
end

--- The step whose lines the cursor is on.
function M.step_at_cursor()
  if not current then
    return nil
  end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found = nil
  for i, start in ipairs(current.lines) do
    if start <= line then
      found = i - 1
    end
  end
  return found
end

--- The text means something else than the trace, or the same again: lines are marked only while they are the right ones.
function M.changed(change)
  local bufnr = current and change.open and not change.simulation and buffer_of(current.step.model)
  if bufnr and change.stale then
    vim.api.nvim_buf_clear_namespace(bufnr, edges, 0, -1)
  elseif bufnr and #M.marked(bufnr) == 0 then
    mark_edges()
  end
end

--- Closes the split and removes the hints.
function M.forget()
  if not current then
    return
  end
  local gone = current
  current = nil
  M.clear_hints(gone.step.model)
  local bufnr = buffer_of(gone.step.model)
  if bufnr then
    vim.api.nvim_buf_clear_namespace(bufnr, edges, 0, -1)
  end
  if vim.api.nvim_buf_is_valid(gone.buffer) then
    vim.api.nvim_buf_delete(gone.buffer, { force = true })
  end
end

--- The open trace, or nil.
function M.current()
  return current
end

return M
