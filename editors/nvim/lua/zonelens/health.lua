-- :checkhealth zonelens
local M = {}

local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local error_ = health.error or health.report_error

function M.check()
  start('zonelens')
  if vim.fn.has('nvim-0.7') == 1 then
    ok('Neovim is new enough')
  else
    error_('Neovim 0.7 or newer is needed')
  end
  local cmd = require('zonelens').options.cmd
  if vim.fn.executable(cmd[1]) == 0 then
    error_(cmd[1] .. ' is not an executable', { 'put the zonelens binary on your PATH', "or require('zonelens').setup({ cmd = { '/path/to/zonelens', 'lsp' } })" })
    return
  end
  local version = vim.fn.system({ cmd[1], '--version' })
  local own = require('zonelens.version')
  local theirs = version:match('zonelens (%S+)')
  if vim.v.shell_error == 0 and theirs == own then
    ok(vim.trim(version))
  elseif vim.v.shell_error == 0 then
    warn(('the server is version %s, this plugin is %s'):format(theirs or 'unknown', own), { 'use the same version of both' })
  else
    warn(cmd[1] .. ' does not report its version')
  end
  local client = require('zonelens.client').get()
  if client then
    ok('the server is running')
  else
    ok('the server is not running; it starts with the first model')
  end
end

return M
