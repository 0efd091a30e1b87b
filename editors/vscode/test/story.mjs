// End-to-end test in the real workbench: an unsound line is reported and fixed, the protocol verified, the broken
// one refuted, its trace shown step by step, long runs cancelled, a dead server restarted.
// Usage: node test/story.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);
const example = (name) => fs.readFileSync(path.join(root, 'examples', name), 'utf8');

const broken = example('fischer-broken.xta');
const files = {
  'fischer.xta': example('fischer.xta'),
  'fischer-broken.xta': broken,
  // The same without the author's expectation: a test that fails.
  'fischer-fails.xta': broken.replace('//@ expect violated\n', ''),
  'chat.xta': chat(),
};
/** A model that no machine explores while the test runs: clocks that never agree. */
const slow = slowModel(9);

function chat() {
  return `chan ask, answer;
process Client() {
    clock x;
    state idle, waiting, done;
    init idle;
    trans
        idle -> waiting { guard x >= 3; sync ask!; },
        waiting -> done { sync answer?; };
}
process Server() {
    clock y;
    state ready, busy { y <= 5 };
    init ready;
    trans
        ready -> busy { sync ask?; assign y = 0; },
        busy -> ready { guard y >= 2; sync answer!; };
}
system Client, Server;

//@ query E<> Client.done
`;
}

function slowModel(count) {
  const processes = Array.from({ length: count }, (_, i) => `process P${i}() {
    clock x, y;
    int[0,50] n;
    state a { x <= ${7 + 3 * i} }, b { y <= ${11 + 5 * i} }, c;
    init a;
    trans
        a -> b { guard x >= ${1 + i}; assign y = 0, n = (n + ${i + 1}) % 47; },
        b -> c { guard y > ${2 + i}; },
        c -> a { assign x = 0; };
}`);
  const names = processes.map((_, i) => `P${i}`);
  // The query first: its lens must be on the screen.
  const query = `//@ query A[] not (${names.map((n) => `${n}.n == 48`).join(' && ')})`;
  return `${query}\n${processes.join('\n')}\nsystem ${names.join(', ')};\n`;
}

const begin = Date.now();
let bench;

async function diagnosticAndFix() {
  await bench.open('fischer.xta');
  await bench.lens(/▶ verify$/, 60);
  await bench.replace('id = i,', 'id = id + 1,');
  const squiggles = () => bench.rectangles('.squiggly-error');
  await until('a squiggle under id + 1, and no other', async () => {
    const text = await bench.place('id + 1');
    const [squiggle, other] = await squiggles();
    return text && squiggle && !other && Math.abs(squiggle.left - text.left) < 4 && Math.abs(squiggle.right - text.right) < 4 && squiggle.top >= text.top - 4 && squiggle.bottom <= text.bottom + 8;
  }, 20, async () => JSON.stringify({ squiggles: await squiggles(), text: await bench.place('id + 1') }));
  await bench.lens(/verify/);
  await bench.problem('sym/arithmetic');
  await bench.screenshot('vscode-diagnostic');
  await bench.hidePanel();
  const action = bench.page.locator('.action-widget .monaco-list-row.action').first();
  const offer = () => act('the fixes are offered', async () => {
    await bench.clickText('id + 1');
    await bench.press('Control+.');
  }, () => action.isVisible());
  await offer();
  await bench.screenshot('vscode-fix');
  await act('the diagnostic goes', async () => {
    await offer();
    await bench.press('Enter');
  }, async () => (await bench.rectangles('.squiggly-error')).length === 0);
  assert.equal(await bench.place('id + 1'), null, 'the fix took the arithmetic away');
}

async function verdict() {
  // The fix kept the scalar that was there; the author meant another.
  await bench.replace('id = id,', 'id = i,');
  await bench.lens(/▶ verify$/);
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 90);
  await bench.screenshot('vscode-verdict');
}

async function trace() {
  await bench.open('fischer-broken.xta');
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✗ violated/, 60);
  const panel = await bench.openTrace();
  const steps = panel.locator('ol.steps li');
  assert.equal(await steps.count(), 7, 'a start and six steps');
  assert.equal(await panel.locator('.chart .lane').count(), 4, 'one lane per process');
  const current = () => panel.locator('ol.steps li.current').getAttribute('data-step');
  assert.equal(await current(), '0');
  // By keyboard from here on.
  const press = (key, step) => act(`step ${step}`, () => panel.locator('ol.steps').press(key), async () => (await current()) === step);
  const seen = [];
  for (const step of ['1', '2', '3']) {
    await press('ArrowDown', step);
    const sign = ['①', '②', '③'][Number(step) - 1];
    seen.push(await until('a marked edge with its hint', async () => (await bench.markedLines()).find((line) => line.includes(sign)), 20, async () => (await bench.markedLines()).join('\n')));
  }
  // The hint stands before the edge.
  assert.match(seen[0], /① Fischer\(\d\), t = 0\s*idle -> req/);
  assert.match(seen[1], /② Fischer\(\d\), t = 0\s*idle -> req/);
  assert.match(seen[2], /③ Fischer\(\d\), t = .*req -> wait/);
  // Changes are shown in words and by a sign, not by colour alone.
  const changed = await panel.locator('tr.changed').allTextContents();
  assert.ok(changed.some((row) => row.includes('● was')), changed.join());
  assert.match(await panel.locator('output.place').innerText(), /Step 3 of 6/);
  await bench.screenshot('vscode-trace');
  await press('End', '6');
  await press('Home', '0');
  for (const name of await panel.locator('button').evaluateAll((all) => all.map((b) => b.getAttribute('aria-label')))) {
    assert.ok(name, 'every button has a name');
  }
  await filter(panel);
  await policy(panel);
}

/** What is smuggled into the page does not run, and there is no way out of it. */
async function policy(panel) {
  const told = await panel.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(told, /^default-src 'none'; style-src 'self' [^;']+; script-src 'nonce-[\w-]{20,}'$/);
  const ran = await panel.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.smuggled = true';
    document.body.append(script);
    return window.smuggled === true;
  });
  assert.equal(ran, false, 'inline scripts do not run');
}

async function filter(panel) {
  const lanes = async () => await panel.locator('.chart .lane').count();
  const isOpen = () => panel.getByLabel('Fischer(3)').isVisible();
  await act('the list of processes opens', () => panel.locator('.filter summary').click(), isOpen);
  await act('three lanes', () => panel.getByLabel('Fischer(3)').uncheck(), async () => (await lanes()) === 3);
  await act('four lanes', () => panel.getByLabel('Fischer(3)').check(), async () => (await lanes()) === 4);
  await act('the list of processes closes', () => panel.locator('.filter summary').click(), async () => !(await isOpen()));
}

async function diagram() {
  const panel = await bench.panel('ol.steps li');
  const drawing = await bench.openPanel('svg g.node', () => panel.getByRole('button', { name: /Show the templates/ }).click());
  const lit = async () => (await drawing.locator('g.node.lit').evaluateAll((all) => all.map((n) => n.getAttribute('aria-label')))).join(' | ');
  await until('the first step is lit', async () => /^Location idle, initial, here: Fischer\(0\)/.test(await lit()), 30, lit);
  await act('the location is lit', () => drawing.getByRole('button', { name: /^Next step/ }).click(), async () => /Location req, .*here: Fischer/.test(await lit()), { again: 15 });
  const taken = await drawing.locator('g.edge.taken').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label')));
  assert.equal(taken.length, 1, taken.join());
  assert.match(taken[0], /^Edge from idle to req/);
  await bench.screenshot('vscode-diagram');
  // A click, or Enter, jumps to the source.
  await act('the cursor is at the locations', () => drawing.locator('g.node[data-name="cs"]').press('Enter'), async () => /Ln 13/.test((await bench.page.locator('.statusbar-item').allTextContents()).join(' ')));
}

async function synchronisation() {
  await bench.open('chat.xta');
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
  const panel = await bench.openTrace('Client.done');
  assert.deepEqual(await panel.locator('.chart .channel').allTextContents(), ['ask', 'answer']);
  for (const step of ['1', '2']) {
    await act(`step ${step}`, () => panel.locator('ol.steps').press('ArrowDown'), async () => (await panel.locator('ol.steps li.current').getAttribute('data-step')) === step);
  }
  await until('both edges are marked', async () => (await bench.markedLines()).length === 2);
  await panel.locator('.chart .channel').last().scrollIntoViewIfNeeded();
  await bench.screenshot('vscode-chart');
  await bench.command('Zonelens: Trace: Close');
  await until('no mark', async () => (await bench.markedLines()).length === 0);
}

async function testExplorer() {
  await bench.command('Testing: Focus on Test Explorer View');
  const rows = bench.page.locator('.test-explorer .monaco-list-row');
  await bench.command('Test: Refresh Tests');
  await until('the files', async () => (await rows.count()) >= 4, 60);
  await bench.command('Test: Run All Tests');
  const labels = async () => await rows.evaluateAll((all) => all.map((r) => r.getAttribute('aria-label')));
  await until('files have verdicts', async () => {
    const all = (await labels()).join('\n');
    return /fischer\.xta \(Passed/.test(all) && /fischer-broken\.xta \(Passed/.test(all) && /fischer-fails\.xta \(Failed/.test(all);
  }, 120, async () => (await labels()).join('\n'));
  await act('its queries', async () => {
    await rows.filter({ hasText: 'fischer-fails.xta' }).first().click();
    await bench.press('ArrowRight');
  }, async () => (await labels()).some((l) => /^A\[\] forall.*\(Failed/.test(l)));
  await until('the other one passes', async () => (await labels()).some((l) => /^E<> exists.*\(Passed/.test(l)));
  await bench.screenshot('vscode-tests');
  await bench.hidePanel();
}

async function cancelling() {
  fs.writeFileSync(path.join(bench.workspace, 'slow.xta'), slow);
  await bench.command('View: Show Explorer');
  await bench.open('slow.xta');
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/◌ .*cancel/, 60);
  await until('a worker', async () => bench.processes('worker').length === 1);
  const item = bench.page.locator('[id="zonelens.zonelens.zonelens.status"]').filter({ hasText: 'Verifying' });
  await item.waitFor({ timeout: 20_000 });
  // One item, not a second one for the same run.
  const busy = async () => (await bench.page.locator('.statusbar-item').allTextContents()).filter((text) => /states/.test(text));
  assert.equal((await busy()).length, 1, (await busy()).join(' | '));
  await bench.screenshot('vscode-running');
  await act('the run is cancelled', () => item.locator('a').click({ timeout: 3000 }).catch(() => undefined), async () => (await bench.lenses()).some((text) => /⊘ cancelled · verify$/.test(text)));
  await until('no worker is left', async () => bench.processes('worker').length === 0);
}

async function death() {
  const [server] = await until('one server', async () => {
    const all = bench.processes('lsp');
    return all.length === 1 && all;
  });
  process.kill(server, 'SIGKILL');
  const notice = bench.page.locator('.notification-toast').filter({ hasText: 'was restarted' });
  await notice.waitFor({ timeout: 30_000 });
  await until('another server', async () => bench.processes('lsp').some((pid) => pid !== server));
  await bench.screenshot('vscode-restart');
  await bench.open('fischer.xta');
  await bench.lens(/✓ satisfied.*from cache/, 30);
}

try {
  bench = await start(codeServer, path.resolve(vsix), files, path.resolve(screenshots));
  await chapter('diagnostic under id + 1, quick fix', diagnosticAndFix);
  await chapter('lens, verdict', verdict);
  await chapter('broken example, trace panel, stepping by keyboard', trace);
  await chapter('diagram lights the location', diagram);
  await chapter('synchronisations as arrows', synchronisation);
  await chapter('test explorer shows the same verdicts', testExplorer);
  await chapter('a long run is cancelled', cancelling);
  await chapter('a killed server is restarted with a message', death);
  assert.deepEqual(bench.complaints, [], 'the panels keep to their content security policy');
  // Resources of panels have addresses of their own, which the workbench answers itself.
  const asked = bench.foreign.filter((url) => /zonelens/.test(url) && !/\.vscode-resource\.vscode-cdn\.net\//.test(url));
  assert.deepEqual(asked, [], 'nothing of ours asks the network');
  console.log(`vscode: end-to-end test passed in ${((Date.now() - begin) / 1000).toFixed(0)} s; screenshots in ${path.resolve(screenshots)}`);
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'vscode-failure.png') }).catch(() => undefined);
  const log = bench && path.join(bench.home, 'code-server.err');
  if (log && fs.existsSync(log)) {
    console.error(fs.readFileSync(log, 'utf8').slice(-2000));
  }
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
