-- Starts the server for models and queries, and defines :Zonelens.
if vim.g.loaded_zonelens then
  return
end
vim.g.loaded_zonelens = true

local group = vim.api.nvim_create_augroup('zonelens', { clear = true })
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = { 'xta', 'uppaal-q', 'uppaal-xml' },
  callback = function(event)
    require('zonelens').attach(event.buf)
  end,
})

vim.api.nvim_create_user_command('Zonelens', function(command)
  require('zonelens.commands').run(command.fargs)
end, {
  nargs = '*',
  desc = 'Verify models of timed automata',
  complete = function(lead, line)
    return require('zonelens.commands').complete(lead, line)
  end,
})
