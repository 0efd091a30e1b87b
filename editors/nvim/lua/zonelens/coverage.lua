-- What a model never does, in the quickfix list.
local M = {}

--- Explores the model of the buffer and lists what never happens.
function M.show()
  local client = require('zonelens.client')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.notify('zonelens: exploring; :Zonelens cancel stops it')
  client.execute('zonelens.coverage', { uri = vim.uri_from_bufnr(bufnr) }, function(err, result)
    if err or not result then
      return
    end
    local items = {}
    local target = vim.uri_to_bufnr(result.uri)
    for _, list in ipairs({ result.never, result.notSeen }) do
      for _, found in ipairs(list) do
        -- A guard or a receiver is named with its edge.
        if found.kind ~= 'guard' and found.kind ~= 'receiver' then
          table.insert(items, {
            bufnr = target,
            lnum = found.range.start.line + 1,
            col = found.range.start.character + 1,
            text = (found.template ~= vim.NIL and found.template .. ': ' or '') .. found.message,
            type = 'I',
          })
        end
      end
    end
    local states = result.statistics.explored
    local reason = result.reason ~= vim.NIL and result.reason or nil
    if not result.complete then
      vim.notify(('zonelens: not everything was explored (%s)'):format(reason or 'no reason given'), vim.log.levels.WARN)
    elseif #items == 0 then
      vim.notify(('zonelens: everything happens in %d states'):format(states))
    else
      vim.notify(('zonelens: %d never happen, in %d states'):format(#items, states))
    end
    vim.fn.setqflist({}, ' ', { title = 'Zonelens coverage', items = items })
    if #items > 0 then
      vim.cmd('copen')
    end
  end, bufnr)
end

return M
