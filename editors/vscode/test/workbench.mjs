// A real VS Code workbench: code-server with the packaged extension, driven in a headless Chromium.
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { chromium } from 'playwright-core';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.colorTheme': 'Default Light Modern',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
  'editor.accessibilitySupport': 'off',
  'window.commandCenter': false,
  'chat.commandCenter.enabled': false,
};

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/**
 * Starts everything; the workspace holds `files` (name → text). Of the options, `settings` are the user's, `trusted`
 * is false for an untrusted workspace, `extensions` (name → files) are installed in addition.
 */
export async function start(codeServer, vsix, files, screenshots, options = {}) {
  const { settings = {}, trusted = true, extensions: others = {} } = options;
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'zonelens-vscode-'));
  const workspace = path.join(home, 'models');
  const extensions = path.join(home, 'extensions');
  const data = path.join(home, 'data');
  fs.mkdirSync(workspace);
  fs.mkdirSync(path.join(data, 'User'), { recursive: true });
  const trust = { 'security.workspace.trust.enabled': !trusted, 'security.workspace.trust.startupPrompt': 'never', 'security.workspace.trust.banner': 'never' };
  const chosen = { ...SETTINGS, ...trust, ...settings };
  fs.writeFileSync(path.join(data, 'User', 'settings.json'), JSON.stringify(chosen));
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(workspace, name), text);
  }
  const entry = path.join(codeServer, 'out', 'node', 'entry.js');
  const folders = ['--extensions-dir', extensions, '--user-data-dir', data];
  const env = { ...process.env, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), XDG_CONFIG_HOME: path.join(home, 'config'), ZONELENS_CACHE_DIR: path.join(home, 'results') };
  const installed = spawnSync(process.execPath, [entry, '--install-extension', vsix, ...folders], { env, encoding: 'utf8', timeout: 120_000 });
  if (installed.status !== 0) {
    throw new Error(`the package does not install:\n${installed.stdout}\n${installed.stderr}`);
  }
  for (const [name, parts] of Object.entries(others)) {
    installBeside(path.join(home, name), name, parts, (folder) => {
      const answer = spawnSync(process.execPath, [entry, '--install-extension', folder, ...folders], { env, encoding: 'utf8', timeout: 120_000 });
      if (answer.status !== 0) {
        throw new Error(`${name} does not install:\n${answer.stdout}\n${answer.stderr}`);
      }
    });
  }
  const port = await freePort();
  const flags = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', ...(trusted ? ['--disable-workspace-trust'] : [])];
  const child = spawn(process.execPath, [entry, ...flags, '--bind-addr', `127.0.0.1:${port}`, ...folders, workspace], {
    env,
    detached: true,
    stdio: ['ignore', fs.openSync(path.join(home, 'code-server.log'), 'w'), fs.openSync(path.join(home, 'code-server.err'), 'w')],
  });
  const bench = new Workbench(home, workspace, child, screenshots, chosen);
  await bench.connect(port);
  return bench;
}

/** Packs a small extension (file → text) and returns the package. */
function installBeside(folder, name, parts, install) {
  fs.mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(parts)) {
    fs.writeFileSync(path.join(folder, file), text);
  }
  const vsce = path.join(import.meta.dirname, '../node_modules/@vscode/vsce/vsce');
  const out = path.join(folder, `${name}.vsix`);
  const packed = spawnSync(process.execPath, [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', out], { cwd: folder, encoding: 'utf8' });
  if (packed.status !== 0) {
    throw new Error(`${name} cannot be packed:\n${packed.stdout}\n${packed.stderr}`);
  }
  install(out);
}

export class Workbench {
  /** Requests that left this machine, and complaints of the content security policy. */
  foreign = [];
  complaints = [];

  constructor(home, workspace, child, screenshots, settings) {
    Object.assign(this, { home, workspace, child, screenshots, settings });
    fs.mkdirSync(screenshots, { recursive: true });
  }

  async connect(port) {
    this.browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic'],
    });
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1 });
    this.page = await context.newPage();
    this.page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol.startsWith('http') && hostname !== '127.0.0.1' && hostname !== 'localhost') {
        this.foreign.push(request.url());
      }
    });
    this.page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text()) && /trace\.js|diagram\.js|simulator\.js|panel\.css/.test(message.text())) {
        this.complaints.push(message.text());
      }
    });
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(this.workspace)}`;
    await until('code-server listens', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
      return answer?.ok;
    }, 60);
    await this.page.goto(url);
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 90_000 });
  }

  /** Ends everything this test started. */
  async stop() {
    await this.browser?.close().catch(() => undefined);
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
    fs.rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async screenshot(name) {
    await this.page.mouse.move(700, 5);
    await this.page.waitForTimeout(400);
    await this.page.screenshot({ path: path.join(this.screenshots, `${name}.png`) });
  }

  /** Changes settings like a user: in the settings file. */
  async configure(settings) {
    Object.assign(this.settings, settings);
    await this.press('Control+1');
    await this.command('Preferences: Open User Settings (JSON)');
    await this.page.locator('.tab.active[data-resource-name="settings.json"]').waitFor();
    await until('the editor has the focus', () => this.page.evaluate(() => document.activeElement?.closest('.monaco-editor') !== null));
    await this.press('Control+A');
    await this.page.keyboard.insertText(JSON.stringify(this.settings));
    await this.press('Control+S');
    await until('the settings are saved', async () => (await this.page.locator('.tab.active.dirty').count()) === 0);
    await this.command('View: Close Editor');
  }

  /** The language of the active editor, as the status bar names it. */
  async language() {
    const name = await this.page.locator('[id="status.editor.mode"]').textContent({ timeout: 2000 }).catch(() => '');
    return name.trim();
  }

  /** Chooses a language like a user. */
  async chooseLanguage(name) {
    await this.press('Control+1');
    await this.command('Change Language Mode');
    const input = this.page.locator('.quick-input-widget input');
    await input.waitFor();
    await input.fill(name);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first();
    await row.waitFor();
    await row.click();
    await until(`the language is ${name}`, async () => (await this.language()) === name, 20, () => this.language());
  }

  /** What a log of the extension host says, in all sessions so far. */
  hostLog() {
    const logs = path.join(this.home, 'data', 'logs');
    const all = fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true }) : [];
    return all.filter((name) => name.endsWith('remoteexthost.log')).map((name) => fs.readFileSync(path.join(logs, name), 'utf8')).join('\n');
  }

  async press(...keys) {
    for (const key of keys) {
      await this.page.keyboard.press(key);
    }
  }

  /** Runs a command of the palette. */
  async command(title) {
    await this.press('F1');
    const input = this.page.locator('.quick-input-widget input');
    await input.waitFor();
    await input.fill(`>${title}`);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
    await row.waitFor();
    await row.click();
    // Some commands ask for more in the same place.
    if (title !== 'Change Language Mode') {
      await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    }
  }

  /** Opens a file of the workspace in the first column. */
  async open(name) {
    await this.press('Control+1');
    const input = this.page.locator('.quick-input-widget input');
    const row = this.page.locator('.quick-input-list .monaco-list-row').first();
    // A file that was made a moment ago is found by a search that begins after it.
    await until(`${name} is found`, async () => {
      await this.press('Escape', 'Control+P');
      await input.waitFor();
      await input.fill(name);
      await this.page.waitForTimeout(500);
      return (await row.getAttribute('aria-label', { timeout: 2000 }).catch(() => ''))?.startsWith(name);
    });
    await input.press('Enter');
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).first().waitFor();
  }

  /** The lenses in the editor, as their texts. */
  async lenses() {
    const texts = await this.page.locator('.codelens-decoration a').allTextContents();
    return texts.map((text) => text.replace(/[\u00a0\u202f]/g, ' '));
  }

  /** Waits for a lens. */
  async lens(pattern, seconds = 30) {
    return await until(`a lens like ${pattern}`, async () => (await this.lenses()).find((text) => pattern.test(text)), seconds, async () => (await this.lenses()).join(' | '));
  }

  /** Clicks the `nth` lens whose text matches. */
  async clickLens(pattern, nth = 0) {
    await this.lens(pattern);
    const all = this.page.locator('.codelens-decoration a');
    const texts = await this.lenses();
    const fitting = texts.map((text, i) => (pattern.test(text) ? i : -1)).filter((i) => i >= 0);
    await all.nth(fitting[nth]).click();
  }

  /** Selects the first place of `old` and types `text` over it. */
  async replace(old, text) {
    await this.press('Control+1', 'Control+Home', 'Control+F');
    const input = this.page.locator('.find-widget .find-part textarea').first();
    await input.waitFor();
    await input.fill(old);
    await input.press('Enter');
    await until('something is found', async () => /selected/.test((await this.page.locator('.statusbar-item').allTextContents()).join()));
    // A hover over the text may take the first key.
    await until('the find widget closes', async () => {
      await this.press('Escape');
      await this.page.waitForTimeout(300);
      return (await this.page.locator('.find-widget.visible').count()) === 0;
    });
    // Text typed before the editor has the focus again is lost.
    await until('the editor has the focus', () => this.page.evaluate(() => document.activeElement?.closest('.monaco-editor') !== null && !document.activeElement?.closest('.find-widget')));
    await this.page.keyboard.insertText(text);
    await this.press('Escape');
  }

  /** The position of a text on the screen: the rectangle of its first occurrence in the editor. */
  async place(text) {
    return await this.page.evaluate((wanted) => {
      for (const line of document.querySelectorAll('.part.editor .view-line')) {
        const whole = line.textContent.replace(/\u00a0/g, ' ');
        const at = whole.indexOf(wanted);
        if (at < 0) {
          continue;
        }
        const range = document.createRange();
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        let seen = 0;
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const length = node.textContent.length;
          if (at >= seen && at < seen + length) {
            range.setStart(node, at - seen);
          }
          if (at + wanted.length > seen && at + wanted.length <= seen + length) {
            range.setEnd(node, at + wanted.length - seen);
          }
          seen += length;
        }
        const { left, right, top, bottom } = range.getBoundingClientRect();
        return { left, right, top, bottom };
      }
      return null;
    }, text);
  }

  /** Waits until the text no longer moves: lenses above it appear and disappear. */
  async settled() {
    let before = '';
    await until('the text stands still', async () => {
      await this.page.waitForTimeout(300);
      const now = JSON.stringify(await this.rectangles('.part.editor .view-line'));
      const same = now === before;
      before = now;
      return same;
    });
  }

  /** The rectangles of elements. */
  async rectangles(selector) {
    return await this.page.evaluate(
      (s) => [...document.querySelectorAll(s)].map((e) => { const r = e.getBoundingClientRect(); return { left: r.left, right: r.right, top: r.top, bottom: r.bottom }; }),
      selector,
    );
  }

  /** The text of the lines that the open trace marks in the editor. */
  async markedLines() {
    return await this.page.evaluate(() => {
      const marks = [...document.querySelectorAll('.view-overlays [class*="ced-"]')].filter((e) => getComputedStyle(e).borderLeftWidth === '4px');
      const tops = marks.map((e) => e.getBoundingClientRect().top);
      return [...document.querySelectorAll('.view-line')]
        .filter((line) => tops.some((top) => Math.abs(line.getBoundingClientRect().top - top) < 4))
        .map((line) => line.textContent.replace(/\u00a0/g, ' ').trim());
    });
  }

  /** The page inside a panel, found by an element in it. */
  async panel(selector) {
    return await until(`a panel with ${selector}`, async () => {
      for (const frame of this.page.frames()) {
        if ((await frame.locator(selector).count().catch(() => 0)) > 0) {
          return frame;
        }
      }
      return undefined;
    });
  }

  /** Process ids of the extension's server (`lsp`) or of its workers (`worker`). */
  processes(role) {
    return fs.readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
      try {
        const words = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words[0].startsWith(path.join(this.home, 'extensions')) && words[1] === role;
      } catch {
        return false;
      }
    }).map(Number);
  }
}

/** Waits until `condition` returns a value; fails with `what` after `seconds`. */
export async function until(what, condition, seconds = 30, tell = async () => '') {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await condition();
    if (found) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`waited ${seconds} s for:  ${what}\n${await tell()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
