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
  // Text that is typed in one piece stands there as it is.
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoSurround': 'never',
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

/** The field of the palette, of the list of files and of choices. */
const QUICK_FIELD = '.quick-input-widget .quick-input-box input';

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
    // The machine may be busy with other things.
    this.page.setDefaultTimeout(60_000);
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
    await this.page.goto(url, { timeout: 90_000 });
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
    const file = path.join(this.home, 'data', 'User', 'settings.json');
    const wanted = JSON.stringify(this.settings);
    const tab = this.page.locator('.tab.active[data-resource-name="settings.json"]');
    await this.focusGroup();
    await this.command('Preferences: Open User Settings (JSON)', async () => (await tab.count()) > 0);
    await act('the settings are saved', async () => {
      await this.focusGroup();
      await this.press('Control+A');
      await this.page.keyboard.insertText(wanted);
      await this.press('Control+S');
    }, async () => (await this.isSaved()) && fs.readFileSync(file, 'utf8') === wanted);
    await this.command('View: Close Editor', async () => (await tab.count()) === 0);
  }

  /** Whether the active editor has no unsaved change; a picture beside it may show another text. */
  async isSaved() {
    return (await this.page.locator('.part.editor .editor-group-container.active .tab.active.dirty').count()) === 0;
  }

  /** Saves the active text. */
  async save() {
    await act('it is saved', async () => {
      await this.focusGroup();
      await this.press('Control+S');
    }, () => this.isSaved());
  }

  /** The language of the active editor, as the status bar names it. */
  async language() {
    const name = await this.page.locator('[id="status.editor.mode"]').textContent({ timeout: 2000 }).catch(() => '');
    return name.trim();
  }

  /** Chooses a language like a user. */
  async chooseLanguage(name) {
    await act(`the language is ${name}`, async () => {
      await this.focusGroup();
      await this.command('Change Language Mode', async () => /Select Language Mode/.test(await this.page.locator(QUICK_FIELD).getAttribute('placeholder', { timeout: 1000 }).catch(() => '')));
      await this.choose(name, (label) => label.startsWith(name));
    }, async () => (await this.language()) === name);
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

  /** Gives the focus to what is in the first column, where the text is. */
  async focusGroup() {
    const isThere = () => this.page.evaluate(() => {
      const groups = [...document.querySelectorAll('.part.editor .editor-group-container')];
      const place = (group) => group.getBoundingClientRect();
      const first = groups.sort((a, b) => place(a).left - place(b).left || place(a).top - place(b).top)[0];
      const focus = document.activeElement;
      const isText = focus?.closest('.editor-group-container') === first && !focus.closest('.find-widget');
      return first?.classList.contains('active') === true && (isText || focus?.tagName === 'IFRAME');
    });
    await act('the first column has the focus', async () => {
      await this.closeQuickInput();
      await this.press('Control+1');
    }, isThere, { again: 3 });
  }

  /** Whether the field for commands, files and choices is open. */
  async asks() {
    return await this.page.locator('.quick-input-widget').isVisible();
  }

  async closeQuickInput() {
    if (await this.asks()) {
      await act('the quick input closes', () => this.press('Escape'), async () => !(await this.asks()), { again: 3 });
    }
  }

  /** Writes into the open field and takes the row whose label fits; tells whether the row was there and was taken. */
  async choose(text, fits, byKey = false) {
    const field = this.page.locator(QUICK_FIELD);
    const rows = this.page.locator('.quick-input-list .monaco-list-row');
    try {
      await field.fill(text, { timeout: 5000 });
      const label = await until(`a row for ${text}`, async () => {
        const labels = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
        return labels.find(fits);
      }, 5);
      if (byKey) {
        const focused = this.page.locator('.quick-input-list .monaco-list-row.focused');
        const isFocused = async () => fits((await focused.getAttribute('aria-label', { timeout: 2000 })) ?? '');
        await until(`${text} has the focus`, isFocused, 5);
        // The list is drawn anew while a search goes on.
        await this.page.waitForTimeout(500);
        if (await isFocused()) {
          await field.press('Enter');
          return true;
        }
        return false;
      }
      // By its label: results that arrive meanwhile move the rows.
      await rows.and(this.page.locator(`[aria-label=${JSON.stringify(label)}]`)).first().click({ timeout: 5000 });
      return true;
    } catch {
      // It closed, or was drawn anew: the caller looks at what happened and begins again.
      return false;
    }
  }

  /**
   * Runs a command of the palette, again until `effect`; by default until the palette has closed over it. A command
   * whose effect is there is not run another time.
   */
  async command(title, effect) {
    let ran = false;
    const done = effect ?? (async () => ran && !(await this.asks()));
    await act(`the command ${title}`, async () => {
      await this.closeQuickInput();
      await act('the palette opens', () => this.press('F1'), () => this.asks(), { again: 3 });
      // After its name a row may have its keys, and that it was used a moment ago.
      ran = await this.choose(`>${title}`, (label) => label === title || label.startsWith(`${title}, `));
    }, done, { again: 6 });
  }

  /** Opens a file of the workspace in the first column. */
  async open(name) {
    const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`);
    const fits = (label) => label.startsWith(name);
    let tries = 0;
    // A file that was made a moment ago is found by a search that begins after it. While
    // results arrive, the list ignores the mouse.
    await act(`${name} is open`, async () => {
      await this.focusGroup();
      await act('the list of files opens', () => this.press('Control+P'), () => this.asks(), { again: 3 });
      await this.choose(name, fits, ++tries % 2 === 1);
    }, async () => !(await this.asks()) && (await tab.count()) > 0, { again: 6 });
    await this.focusGroup();
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

  /** Clicks the first lens whose text matches, again until `effect`; by default until there are other lenses. */
  async clickLens(pattern, effect) {
    await this.lens(pattern, 60);
    const count = async () => (await this.lenses()).filter((text) => pattern.test(text)).length;
    const before = await count();
    await act(`the lens ${pattern} does something`, async () => {
      const all = await this.page.locator('.codelens-decoration a').elementHandles();
      for (const lens of all) {
        const text = await lens.textContent().catch(() => null);
        if (text !== null && pattern.test(text.replace(/[\u00a0\u202f]/g, ' '))) {
          // A lens with another text is another element: the click then fails instead of doing something else.
          await lens.click({ timeout: 3000 }).catch(() => undefined);
          return;
        }
      }
    }, effect ?? (async () => (await count()) !== before), { again: 6 });
  }

  /** Selects the first place of `old` and types `text` over it. */
  async replace(old, text) {
    const selected = async () => {
      const item = await this.page.locator('[id="status.editor.selection"]').textContent({ timeout: 2000 }).catch(() => '');
      return Number(/\((\d+) selected\)/.exec(item)?.[1] ?? 0);
    };
    const isOpen = async () => (await this.page.locator('.find-widget.visible').count()) > 0;
    await act(`${old} is selected`, async () => {
      await this.focusGroup();
      await this.press('Control+Home');
      await act('the find widget opens', () => this.press('Control+F'), isOpen, { again: 3 });
      const input = this.page.locator('.find-widget.visible .find-part textarea').first();
      await input.fill(old, { timeout: 5000 }).catch(() => undefined);
      await input.press('Enter', { timeout: 5000 }).catch(() => undefined);
    }, async () => (await selected()) === old.length, { again: 6 });
    // A hover over the text may take the first key. Text typed before the editor has the focus again is lost.
    await act('the find widget closes', () => this.press('Escape'), async () => !(await isOpen()), { again: 2 });
    await act(`${text} stands there`, async () => {
      await this.focusGroup();
      if ((await selected()) === old.length) {
        await this.page.keyboard.insertText(text);
      }
    }, async () => (await selected()) === 0 && (await this.place(text)) !== null, { again: 10 });
    // Suggestions close.
    await this.press('Escape');
  }

  /** Types at the cursor of the text in the first column. */
  async type(text) {
    await act(`${text} is typed`, async () => {
      await this.focusGroup();
      await this.page.keyboard.insertText(text);
    }, async () => (await this.place(text)) !== null, { again: 10 });
  }

  /** Opens the list of problems and waits for one. */
  async problem(code) {
    const row = this.page.locator('.markers-panel .monaco-list-row').filter({ hasText: code });
    await this.command('Problems: Focus on Problems View', async () => (await row.count()) > 0);
  }

  /** Closes the list of files, so that there is more room for the text. */
  async hideSideBar() {
    const bar = this.page.locator('.part.sidebar');
    if (await bar.isVisible()) {
      await this.command('View: Toggle Primary Side Bar Visibility', async () => !(await bar.isVisible()));
    }
  }

  /** Answers the open dialog for files with a path. */
  async choosePath(file) {
    const field = this.page.locator(QUICK_FIELD);
    await until('the dialog asks for a path', async () => (await this.asks()) && (await field.inputValue()).startsWith('/'));
    await act(`${file} is chosen`, async () => {
      await field.fill(file, { timeout: 5000 }).catch(() => undefined);
      // The dialog completes paths while it lists folders: only what stands there for a while is chosen.
      await this.page.waitForTimeout(500);
      if ((await field.inputValue({ timeout: 1000 }).catch(() => '')) === file) {
        await this.press('Enter');
      }
    }, async () => !(await this.asks()), { again: 6 });
  }

  /** Closes the area below the editors if it is open. */
  async hidePanel() {
    const panel = this.page.locator('.part.panel');
    if (await panel.isVisible()) {
      await this.command('View: Hide Panel', async () => !(await panel.isVisible()));
    }
  }

  /** Puts the cursor into a text that is on the screen. */
  async clickText(text, into = 0.5) {
    await act(`the cursor is in ${text}`, async () => {
      await this.settled();
      const at = await until(`${text} is on the screen`, () => this.place(text));
      await this.page.mouse.click(at.left + into * (at.right - at.left), (at.top + at.bottom) / 2);
    }, async () => {
      const at = await this.place(text);
      const cursors = await this.rectangles('.part.editor .monaco-editor.focused .cursor');
      return at && cursors.some((c) => c.left > at.left - 2 && c.left < at.right + 2 && Math.abs((c.top + c.bottom - at.top - at.bottom) / 2) < 6);
    }, { again: 3 });
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

  /**
   * The text of the lines that are marked in the editor, whole or at the labels of an edge: with a `solid` border the
   * edges of the open trace's step, with a `dashed` one those of the transition that is pointed at.
   */
  async markedLines(border = 'solid') {
    return await this.page.evaluate((style) => {
      const isMark = (css) => (css.borderLeftWidth === '4px' && css.borderLeftStyle === style) || (css.borderBottomWidth === '3px' && css.borderBottomStyle === style);
      const marks = [...document.querySelectorAll('.view-overlays [class*="ced-"]')].filter((e) => isMark(getComputedStyle(e)));
      const tops = marks.map((e) => e.getBoundingClientRect().top);
      return [...document.querySelectorAll('.view-line')]
        .filter((line) => tops.some((top) => Math.abs(line.getBoundingClientRect().top - top) < 4))
        .map((line) => line.textContent.replace(/\u00a0/g, ' ').trim());
    }, border);
  }

  /** Opens a panel by `action` unless it is open. */
  async openPanel(selector, action) {
    const isOpen = async () => (await this.frameWith(selector)) !== undefined;
    await act(`a panel with ${selector} opens`, action, isOpen, { again: 15 });
    return await this.panel(selector);
  }

  /** Opens the trace of the only query in the editor that has one; its query contains `query`. */
  async openTrace(query = '') {
    const isShown = async () => {
      const frame = await this.frameWith('ol.steps li');
      return frame !== undefined && (await frame.locator('.query').innerText()).includes(query);
    };
    await this.clickLens(/^trace, /, isShown);
    return await this.panel('ol.steps li');
  }

  /** Clicks an edge of a diagram, on its line where nothing else covers it. */
  async clickEdge(drawing, template, from, to) {
    const edge = drawing.locator(`svg[data-template="${template}"] g.edge[data-from="${from}"][data-to="${to}"]`);
    await edge.locator('polygon').scrollIntoViewIfNeeded();
    const at = await edge.evaluate((group) => {
      const path = group.querySelector('path.target');
      const points = [0.5, 0.75, 0.25, 0.9, 0.1].map((part) => path.getPointAtLength(path.getTotalLength() * part).matrixTransform(path.getScreenCTM()));
      const free = points.find(({ x, y }) => document.elementFromPoint(x, y)?.closest('g.edge') === group);
      return free && { x: free.x, y: free.y };
    });
    const frame = await (await drawing.frameElement()).boundingBox();
    if (at && frame) {
      await this.page.mouse.click(frame.x + at.x, frame.y + at.y);
    }
  }

  async frameWith(selector) {
    for (const frame of this.page.frames()) {
      if ((await frame.locator(selector).count().catch(() => 0)) > 0) {
        return frame;
      }
    }
    return undefined;
  }

  /** The page inside a panel, found by an element in it. */
  async panel(selector) {
    return await until(`a panel with ${selector}`, () => this.frameWith(selector), 60);
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

/**
 * Does something until its effect is seen: a key or a click is lost while the workbench opens, closes or draws
 * something. It is repeated after `again` seconds without the effect, and not at all if the effect is there already.
 */
export async function act(what, action, effect, { seconds = 90, again = 5 } = {}) {
  const end = Date.now() + seconds * 1000;
  while (!(await effect())) {
    if (Date.now() > end) {
      throw new Error(`tried for ${seconds} s:  ${what}`);
    }
    await action();
    const later = Date.now() + again * 1000;
    while (!(await effect()) && Date.now() < later) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** A part of a story, with its time. */
export async function chapter(name, tell) {
  const from = Date.now();
  await tell();
  console.log(`ok   ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
}
