// KNOWN TO FAIL ABOUT EVERY SECOND TIME: after the first step, the edges taken are sometimes never marked in the text.
// The cause is probably in traceSession.ts (a paint that uses the trace before the last fetch). Not part of CI until fixed.
// The simulator in the real workbench: five steps by clicks on transitions and edges, back two, on to the end; by
// keyboard; from a step of a trace; in light and dark.
// Usage: node test/simulator.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { start, until } from './workbench.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);

/** Ends in a deadlock after two rounds; the second list has an entry after the first step. */
const MODEL = `chan ask, answer;
int rounds;
process Client() {
    clock x;
    state idle { x <= 8 }, waiting, done;
    init idle;
    trans
        idle -> waiting { guard x >= 2 && rounds < 2; sync ask!; assign x = 0; },
        idle -> done { guard rounds >= 2; },
        waiting -> idle { sync answer?; assign x = 0, rounds++; };
}
process Server() {
    clock y;
    state ready, busy { y <= 5 };
    init ready;
    trans
        ready -> busy { sync ask?; assign y = 0; },
        busy -> ready { guard y >= 1; sync answer!; };
}
system Client, Server;

//@ query E<> Client.done
`;

let bench;

async function chapter(name, tell) {
  const from = Date.now();
  await tell();
  console.log(`ok   ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`);
}

const place = (panel) => panel.locator('output.place').innerText();

async function atStep(panel, number) {
  return await until(`step ${number}`, async () => (await place(panel)).startsWith(`Step ${number} of`) && (await place(panel)), 30, () => place(panel));
}

async function byClicks() {
  await bench.open('chat.xta');
  await bench.lens(/▶ verify$/, 60);
  await bench.command('Zonelens: Simulate');
  const panel = await bench.panel('.choices-list .choice');
  await atStep(panel, 0);
  const first = panel.locator('ul[aria-label="Possible"] .choice').first();
  assert.match(await first.innerText(), /Client: idle → waiting, Server: ready → busy/);
  assert.match(await first.innerText(), /after \[2, 8\]/);
  const blocked = await panel.locator('ul[aria-label="Blocked"] .choice').allInnerTexts();
  assert.ok(blocked.some((text) => /Client: idle → done[^]*guard is false \(line 9\)/.test(text)), blocked.join('\n'));
  await until('the zone', async () => /Client\.x/.test(await panel.locator('.zone').innerText()), 30, () => panel.locator('.zone').innerText());

  // Beside it the picture.
  await panel.getByRole('button', { name: /Show the templates/ }).click();
  const drawing = await bench.panel('svg g.node');
  await until('the start is lit', async () => (await drawing.locator('g.node.lit').count()) === 2);

  // Pointing at a transition marks both of its edges.
  await first.hover();
  await until('the edges are marked', async () => (await drawing.locator('g.edge.pointed').count()) === 2);

  // Five steps: three by the list, with a delay once, two by the picture.
  await panel.locator('input.delay').fill('7/2');
  await first.click();
  assert.match(await atStep(panel, 1), /t = 7\/2/);
  await until('the change is marked', async () => /location\s*waiting\s*● was idle/.test(await panel.locator('.tree').innerText()), 20, () => panel.locator('.tree').innerText());
  await until('both edges are marked in the text', async () => (await bench.markedLines()).length === 2);
  await panel.locator('ul[aria-label="Possible"] .choice').first().click();
  await atStep(panel, 2);
  const edge = (from, to) => drawing.locator(`g.edge[data-from="${from}"][data-to="${to}"]`);
  await edge('idle', 'waiting').focus();
  await bench.press('Enter');
  await atStep(panel, 3);
  await edge('busy', 'ready').focus();
  await bench.press('Enter');
  await atStep(panel, 4);
  await until('it is lit in the picture', async () => (await drawing.locator('g.edge.taken').count()) === 2);
  await panel.locator('ul[aria-label="Possible"] .choice').first().click();
  const end = await atStep(panel, 5);
  assert.match(end, /nothing is possible/);
  assert.match(await panel.locator('.lists').innerText(), /Nothing, however long one waits/);
  return { panel, drawing };
}

async function backAndOn() {
  const panel = await bench.panel('.choices-list .choice');
  await panel.getByRole('button', { name: /^Back/ }).click();
  await atStep(panel, 4);
  await panel.getByRole('button', { name: /^Back/ }).click();
  assert.match(await atStep(panel, 3), /of 5/);
  await until('the zone', async () => /Client\.x|Server\.y/.test(await panel.locator('.zone').innerText()));
  // A watched expression.
  await panel.locator('.watches input').fill('rounds + 1');
  await panel.locator('.watches input').press('Enter');
  await until('its value', async () => /rounds \+ 1\s*2/.test(await panel.locator('.watches').innerText()), 20, () => panel.locator('.watches').innerText());
  await panel.locator('.watches input').fill('nothing');
  await panel.locator('.watches input').press('Enter');
  await until('its problem', async () => /nothing\s+\S+ \S+/.test(await panel.locator('.watches').innerText()), 20, () => panel.locator('.watches').innerText());
  await panel.getByRole('button', { name: 'Watch nothing no more' }).click();
  await bench.screenshot('vscode-simulator');
  for (const name of await panel.locator('button').evaluateAll((all) => all.map((b) => b.getAttribute('aria-label') ?? b.textContent))) {
    assert.ok(name, 'every button has a name');
  }
  assert.equal(await panel.locator('output.place').getAttribute('aria-live'), 'polite');
  // On to the end, by keyboard alone.
  await panel.locator('ul[aria-label="Possible"] .choice').first().focus();
  await bench.press('ArrowRight');
  await atStep(panel, 4);
  await bench.press('r');
  assert.match(await atStep(panel, 5), /nothing is possible/);
  await bench.press('p');
  await atStep(panel, 4);
  await bench.press('ArrowDown', 'Enter');
  assert.match(await atStep(panel, 5), /nothing is possible/);
  await bench.press('Home');
  await atStep(panel, 0);
  // What is refused is said where it is read.
  await panel.locator('input.delay').fill('9');
  await panel.locator('input.delay').press('Enter');
  await until('the refusal', async () => /time may pass by \[0, 8\] here, not by 9/.test(await panel.locator('.banner').innerText()));
}

async function byItself() {
  const panel = await bench.panel('.choices-list .choice');
  await panel.getByRole('button', { name: /^Take random transitions/ }).click();
  await until('it walks', async () => !(await place(panel)).startsWith('Step 0'));
  await panel.locator('.lists').click({ position: { x: 2, y: 2 } });
  await bench.press('x');
  await until('a key pauses it', async () => (await panel.getByRole('button', { name: /^Take random transitions/ }).innerText()) === 'Run');
}

async function edits() {
  const panel = await bench.panel('.choices-list .choice');
  await panel.getByRole('button', { name: /^Start again/ }).click();
  await atStep(panel, 0);
  await panel.locator('ul[aria-label="Possible"] .choice').first().click();
  await atStep(panel, 1);
  await bench.replace('x >= 2', 'x >= 20');
  await until('the walk ends where it must', async () => /the walk ends before step 1/.test(await panel.locator('.banner').innerText()), 30, () => panel.locator('.banner').innerText());
  await atStep(panel, 0);
  await bench.replace('x >= 20', 'x >= 2');
  await until('it can go on', async () => /after \[2, 8\]/.test(await panel.locator('.lists').innerText()), 30, () => panel.locator('.lists').innerText());
}

async function fromTrace() {
  await bench.command('Zonelens: Simulation: Close');
  await bench.open('chat.xta');
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
  await bench.clickLens(/^trace, /);
  const trace = await bench.panel('ol.steps li');
  await trace.locator('ol.steps').focus();
  await bench.press('ArrowDown', 'ArrowDown');
  await until('step 2', async () => (await trace.locator('ol.steps li.current').getAttribute('data-step')) === '2');
  await trace.getByRole('button', { name: /^Simulate from this step/ }).click();
  const panel = await bench.panel('.choices-list .choice');
  assert.match(await atStep(panel, 2), /of 5/);
}

async function dark() {
  await bench.configure({ 'workbench.colorTheme': 'Default Dark Modern' });
  const panel = await bench.panel('.choices-list .choice');
  await until('the theme', async () => (await panel.locator('body').getAttribute('class'))?.includes('vscode-dark'), 30);
  await until('the zone', async () => /Client\.x|Server\.y/.test(await panel.locator('.zone').innerText()));
  await bench.screenshot('vscode-simulator-dark');
}

try {
  bench = await start(codeServer, path.resolve(vsix), { 'chat.xta': MODEL }, path.resolve(screenshots));
  await chapter('five steps by clicks on transitions and edges', byClicks);
  await chapter('back two, on to the end, by keyboard', backAndOn);
  await chapter('a random walk, paused by a key', byItself);
  await chapter('edits keep what they can', edits);
  await chapter('from a step of a trace', fromTrace);
  await chapter('dark', dark);
  assert.deepEqual(bench.complaints, [], 'the panel keeps to its content security policy');
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'vscode-simulator-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
