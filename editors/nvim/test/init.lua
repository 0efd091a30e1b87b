-- The smallest configuration: this plugin, this server.
vim.opt.runtimepath:prepend(vim.env.ZONELENS_PLUGIN)
vim.opt.swapfile = false
vim.cmd('filetype plugin indent on | syntax on')
require('zonelens').setup({ cmd = { vim.env.ZONELENS_SERVER, 'lsp' } })
