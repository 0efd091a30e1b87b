// Screenshots of Neovim for docs/neovim.md: the steps in a terminal (tmux), drawn as a page, captured by Chromium.
// Usage: node screenshots.mjs SERVER NVIM FOLDER; needs tmux and the tools that the test of VS Code installs.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');
const require = createRequire(path.join(root, 'editors/vscode/package.json'));
const { chromium } = require('playwright-core');
const [server, nvim, folder] = process.argv.slice(2).map((argument) => path.resolve(argument));

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'zonelens-nvim-'));
for (const name of ['fischer.xta', 'fischer-broken.xta']) {
  fs.copyFileSync(path.join(root, 'examples', name), path.join(work, name));
}
const env = {
  ...process.env, HOME: work, TERM: 'xterm-256color', ZONELENS_SERVER: server, ZONELENS_PLUGIN: path.join(root, 'editors/nvim'),
  ZONELENS_CACHE_DIR: path.join(work, 'results'), XDG_CONFIG_HOME: work, XDG_DATA_HOME: work, XDG_STATE_HOME: work, XDG_CACHE_HOME: work,
  LC_ALL: 'C.UTF-8',
};
const socket = path.join(work, 'tmux');
const tmux = (...args) => execFileSync('tmux', ['-S', socket, ...args], { env, cwd: work, encoding: 'utf8' });
const screen = (...flags) => tmux('capture-pane', '-p', '-t', 'nvim', ...flags);

async function until(text) {
  const end = Date.now() + 30_000;
  while (!screen().includes(text)) {
    if (Date.now() > end) {
      throw new Error(`timeout while waiting for ${text} on\n${screen()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await new Promise((resolve) => setTimeout(resolve, 400));
}

const keys = (...all) => tmux('send-keys', '-t', 'nvim', ...all);
const command = (line) => keys('Escape', `:${line}`, 'Enter');

const BASE = ['#1e1e1e', '#cd3131', '#0dbc79', '#e5e510', '#2472c8', '#bc3fbc', '#11a8cd', '#e5e5e5', '#666666', '#f14c4c', '#23d18b', '#f5f543', '#3b8eea', '#d670d6', '#29b8db', '#ffffff'];
function colour(n) {
  if (n < 16) {
    return BASE[n];
  }
  const level = (v) => (v === 0 ? 0 : 55 + 40 * v);
  const grey = 8 + 10 * (n - 232);
  return n >= 232 ? `rgb(${grey},${grey},${grey})` : `rgb(${level(Math.floor((n - 16) / 36))},${level(Math.floor((n - 16) / 6) % 6)},${level((n - 16) % 6)})`;
}

/** The screen as HTML: colours, bold, underline, reverse. */
function html(ansi) {
  let style = {};
  const open = () => {
    const [front, back] = style.reverse ? [style.bg ?? '#14161b', style.fg ?? '#e0e2ea'] : [style.fg, style.bg];
    return `<span style="${front ? `color:${front};` : ''}${back ? `background:${back};` : ''}${style.bold ? 'font-weight:bold;' : ''}${style.italic ? 'font-style:italic;' : ''}${style.underline ? 'text-decoration:underline;' : ''}">`;
  };
  const apply = (codes) => {
    for (let i = 0; i < codes.length; i += 1) {
      const c = codes[i];
      if (c === 0) style = {};
      else if (c === 1) style.bold = true;
      else if (c === 3) style.italic = true;
      else if (c === 4) style.underline = true;
      else if (c === 7) style.reverse = true;
      else if (c === 39) delete style.fg;
      else if (c === 49) delete style.bg;
      else if (c === 38 || c === 48) {
        const target = c === 38 ? 'fg' : 'bg';
        style[target] = codes[i + 1] === 5 ? colour(codes[i + 2]) : `rgb(${codes.slice(i + 2, i + 5).join(',')})`;
        i += codes[i + 1] === 5 ? 2 : 4;
      } else if (c >= 30 && c <= 37) style.fg = BASE[c - 30];
      else if (c >= 40 && c <= 47) style.bg = BASE[c - 40];
      else if (c >= 90 && c <= 97) style.fg = BASE[c - 82];
      else if (c >= 100 && c <= 107) style.bg = BASE[c - 92];
    }
  };
  const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  const parts = ansi.split(/\x1b\[([0-9;:]*)m/);
  return parts.map((part, i) => {
    if (i % 2 === 1) {
      apply(part === '' ? [0] : part.split(/[;:]/).map(Number));
      return '';
    }
    return `${open()}${escape(part)}</span>`;
  }).join('');
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--headless', '--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 900, height: 600 } });
async function picture(name) {
  const body = html(screen('-e').replace(/\x1b\][^\x07\x1b]*(\x07|\x1b\\)/g, ''));
  await page.setContent(`<style>body{margin:0}pre{margin:0;padding:8px;display:inline-block;background:#14161b;color:#e0e2ea;font:14px/1.25 'DejaVu Sans Mono',monospace}</style><pre>${body}</pre>`);
  await page.locator('pre').screenshot({ path: path.join(folder, `${name}.png`) });
}

try {
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'nvim', '-x', '104', '-y', '36', `${nvim} -u ${path.join(here, 'init.lua')} fischer.xta`);
  await until('▶ verify');
  command('set termguicolors number signcolumn=yes laststatus=2 nohlsearch');
  command('%s/id = i,/id = id + 1,/ | noh');
  await until('E:1');
  command('lua vim.diagnostic.open_float({ focus = false, scope = "line" })');
  await until('no arithmetic');
  await picture('neovim-diagnostic');
  command('undo | echo');
  keys('Escape', '/query A', 'Enter');
  command('Zonelens verify');
  await until('✓ satisfied');
  await picture('neovim-verdict');
  command('edit! fischer-broken.xta');
  await until('▶ verify');
  keys('Escape', '/query A', 'Enter');
  command('Zonelens verify');
  await until('✗ violated');
  command('Zonelens trace');
  await until('6 steps');
  command('Zonelens goto 3');
  await until('③');
  await picture('neovim-trace');
  console.log(`pictures of Neovim in ${folder}`);
} finally {
  try {
    tmux('kill-server');
  } catch {
    // It ended by itself.
  }
  await browser.close();
  fs.rmSync(work, { recursive: true, force: true });
}
