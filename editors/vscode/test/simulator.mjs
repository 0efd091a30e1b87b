// The simulator in the real workbench: five steps by clicks on transitions and edges, back two, on to the end; by
// keyboard; from a step of a trace; in light and dark.
// Usage: node test/simulator.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

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

/** More than 20 values of a select variable, and 2,048 combinations of receivers. */
const MANY = `broadcast chan all;
int[0,30] picked;
process Source() {
    state choosing, sent;
    init choosing;
    trans
        choosing -> choosing { select k : int[1,30]; guard picked == 0; assign picked = k; },
        choosing -> sent { guard picked > 0; sync all!; };
}
process Listener(const int[1,11] i) {
    state quiet, left, right;
    init quiet;
    trans
        quiet -> left { sync all?; },
        quiet -> right { sync all?; };
}
system Source, Listener;
`;

let bench;

const place = (panel) => panel.locator('output.place').innerText();

const isAt = async (panel, number) => (await place(panel)).startsWith(`Step ${number} of`);
const firstChoice = (panel) => panel.locator('ul[aria-label="Possible"] .choice').first();

async function atStep(panel, number) {
  await until(`step ${number}`, () => isAt(panel, number), 30, () => place(panel));
  return await place(panel);
}

/** Does what leads to a step; not another time once it is there. */
async function goes(panel, number, action) {
  await act(`step ${number}`, action, () => isAt(panel, number), { again: 15 });
  return await place(panel);
}

async function byClicks() {
  await bench.open('chat.xta');
  await bench.lens(/▶ verify$/, 60);
  await bench.hideSideBar();
  const panel = await bench.openPanel('.choices-list .choice', () => bench.command('Zonelens: Simulate'));
  await atStep(panel, 0);
  const first = firstChoice(panel);
  assert.match(await first.innerText(), /Client: idle → waiting, Server: ready → busy/);
  assert.match(await first.innerText(), /after \[2, 8\]/);
  const blocked = await panel.locator('ul[aria-label="Blocked"] .choice').allInnerTexts();
  assert.ok(blocked.some((text) => /Client: idle → done[^]*guard is false \(line 9\)/.test(text)), blocked.join('\n'));
  await until('the zone', async () => /Client\.x/.test(await panel.locator('.zone').innerText()), 30, () => panel.locator('.zone').innerText());

  // Beside it the picture.
  const drawing = await bench.openPanel('svg g.node', () => panel.getByRole('button', { name: /Show the templates/ }).click());
  await until('the start is lit', async () => (await drawing.locator('g.node.lit').count()) === 2);

  // Pointing at a transition marks both of its edges.
  await act('the edges are marked', () => first.hover(), async () => (await drawing.locator('g.edge.pointed').count()) === 2);
  await until('they are marked in the text', async () => /idle -> waiting[^]*ready -> busy/.test((await bench.markedLines('dashed')).join('\n')));

  // Five steps: three by the list, with a delay once, two by the picture.
  const delayed = await goes(panel, 1, async () => {
    await panel.locator('input.delay').fill('7/2');
    await first.click();
  });
  assert.match(delayed, /t = 7\/2/);
  await until('the change is marked', async () => /location\s*waiting\s*● was idle/.test(await panel.locator('.tree').innerText()), 20, () => panel.locator('.tree').innerText());
  const taken = async () => (await bench.markedLines()).join('\n');
  await until('both edges are marked in the text', async () => /^① Client.*idle -> waiting.*\n① Server.*ready -> busy.*$/.test(await taken()), 30, taken);
  // The pointer is where it was, over what can happen now; away from there, nothing is pointed at.
  await act('nothing is pointed at', () => panel.locator('.place').hover(), async () => (await bench.markedLines('dashed')).length === 0);
  await goes(panel, 2, () => first.click());
  // By mouse, and by keyboard.
  await goes(panel, 3, () => bench.clickEdge(drawing, 'Client', 'idle', 'waiting'));
  await goes(panel, 4, () => drawing.locator('g.edge[data-from="busy"][data-to="ready"]').press('Enter'));
  await until('it is lit in the picture', async () => (await drawing.locator('g.edge.taken').count()) === 2);
  const end = await goes(panel, 5, () => first.click());
  assert.match(end, /nothing is possible/);
  assert.match(await panel.locator('.lists').innerText(), /Nothing, however long one waits/);
  return { panel, drawing };
}

async function backAndOn() {
  const panel = await bench.panel('.choices-list .choice');
  const back = panel.getByRole('button', { name: /^Back/ });
  await goes(panel, 4, () => back.click());
  assert.match(await goes(panel, 3, () => back.click()), /of 5/);
  await until('the zone', async () => /Client\.x|Server\.y/.test(await panel.locator('.zone').innerText()));
  // A watched expression.
  const watches = () => panel.locator('.watches').innerText();
  const watch = (expression, value) => act(`the value of ${expression}`, async () => {
    await panel.locator('.watches input').fill(expression);
    await panel.locator('.watches input').press('Enter');
  }, async () => value.test(await watches()), { again: 15 });
  await watch('rounds + 1', /rounds \+ 1\s*2/);
  await watch('nothing', /nothing\s+\S+ \S+/);
  await act('it is watched no more', () => panel.getByRole('button', { name: 'Watch nothing no more' }).click(), async () => !/nothing/.test(await watches()));
  await panel.evaluate(() => window.scrollTo(0, 0));
  const pictures = await bench.panel('svg g.node');
  await pictures.locator('svg').first().evaluate((svg) => svg.closest('section').scrollIntoView());
  await bench.screenshot('vscode-simulator');
  for (const name of await panel.locator('button').evaluateAll((all) => all.map((b) => b.getAttribute('aria-label') ?? b.textContent))) {
    assert.ok(name, 'every button has a name');
  }
  assert.equal(await panel.locator('output.place').getAttribute('aria-live'), 'polite');
  // On to the end, by keyboard alone.
  const keys = panel.getByRole('button', { name: /^Back/ });
  await goes(panel, 4, () => firstChoice(panel).press('ArrowRight'));
  assert.match(await goes(panel, 5, () => keys.press('r')), /nothing is possible/);
  await goes(panel, 4, () => keys.press('p'));
  await act('the first transition has the focus', () => keys.press('ArrowDown'), () => firstChoice(panel).evaluate((e) => e === document.activeElement));
  assert.match(await goes(panel, 5, () => bench.press('Enter')), /nothing is possible/);
  await goes(panel, 0, () => keys.press('Home'));
  // What is refused is said where it is read.
  await act('the refusal', async () => {
    await panel.locator('input.delay').fill('9');
    await panel.locator('input.delay').press('Enter');
  }, async () => /time may pass by \[0, 8\] here, not by 9/.test(await panel.locator('.banner').innerText()), { again: 15 });
}

async function byItself() {
  const panel = await bench.panel('.choices-list .choice');
  const run = panel.getByRole('button', { name: /^Take random transitions/ });
  await act('it walks', () => run.click(), async () => !(await isAt(panel, 0)), { again: 15 });
  await act('a key pauses it', () => run.press('x'), async () => (await run.innerText()) === 'Run');
}

async function byItselfToAnEnd() {
  const panel = await bench.panel('.choices-list .choice');
  const fields = panel.locator('details.random');
  const setting = async (name, value) => {
    await act('the fields are open', () => fields.locator('summary').click(), () => fields.locator('.fields').isVisible());
    await fields.locator(`.random-${name}`).fill(value);
  };
  const restart = () => goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  const says = (what) => until(`it says ${what}`, async () => what.test(await panel.locator('.banner').innerText()), 30, () => panel.locator('.banner').innerText());
  const run = panel.getByRole('button', { name: /^Take random transitions/ });
  const ran = async () => (await run.innerText()) === 'Run';
  // An expression, with the steps shown one by one.
  await restart();
  await setting('speed', '10');
  await setting('until', 'rounds == 1');
  await run.click();
  await says(/condition|holds/);
  await until('it has ended', ran);
  await atStep(panel, 2);
  assert.match(await fields.locator('summary').innerText(), /seed 1, 10\/s, ends where rounds == 1/);
  // One that cannot be read.
  await setting('until', 'nobody');
  await run.click();
  await says(/nobody/);
  await until('it does not go on', ran);
  // A number of steps.
  await setting('until', '');
  await restart();
  await setting('steps', '3');
  await run.click();
  await atStep(panel, 3);
  await until('it has ended', ran);
  // All at once, until a moment.
  await restart();
  await setting('steps', '');
  await setting('time', '1');
  await panel.getByRole('button', { name: /^Take the whole random walk/ }).click();
  await until('it ends at the moment', async () => /t = 1,/.test(await place(panel)), 30, () => place(panel));
  await setting('time', '');
  await act('the fields are closed', () => fields.locator('summary').click(), async () => !(await fields.locator('.fields').isVisible()));
}

/** Groups that are folded, receivers one by one, and processes that are not shown. */
async function many() {
  await bench.command('Zonelens: Simulation: Close');
  await bench.open('many.xta');
  const panel = await bench.openPanel('.choices-list .choice', () => bench.command('Zonelens: Simulate'));
  await until('the other model', async () => /many\.xta/.test(await panel.locator('h1').textContent()));
  const possible = panel.locator('ul[aria-label="Possible"] .choice');
  assert.deepEqual(await possible.allInnerTexts(), ['▸ Source: choosing → choosing, 30 choices']);
  await act('the group opens', () => possible.first().click(), async () => (await possible.count()) === 31);
  await act('the group closes', () => possible.first().click(), async () => (await possible.count()) === 1);
  await act('the group opens', () => possible.first().click(), async () => (await possible.count()) === 31);
  await goes(panel, 1, () => possible.filter({ hasText: '[k = 7]' }).click());
  await until('its value', async () => /picked\s*7/.test(await panel.locator('.tree').innerText()));
  // In the picture, names that are wider than the template are not cut, and in order.
  const drawing = await bench.openPanel('svg[data-template="Listener"] g.node', () => panel.getByRole('button', { name: /Show the templates/ }).click());
  const names = drawing.locator('g.node[data-name="quiet"] text.here');
  await until('who is there', async () => /Listener\(1\), Listener\(2\), Listener\(3\) and 8 more/.test((await names.textContent()) ?? ''), 30, () => names.textContent());
  const [name, picture] = [await names.boundingBox(), await drawing.locator('svg[data-template="Listener"]').boundingBox()];
  assert.ok(name && picture && name.x >= picture.x - 1, `${name?.x} is left of ${picture?.x}`);
  // An edge that several transitions take lists them; one that none can take says why.
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  await act('the transitions of the edge are listed', () => bench.clickEdge(drawing, 'Source', 'choosing', 'choosing'), () => bench.asks());
  await act('one of them is taken', () => bench.choose('k = 9', (label) => /k = 9\]/.test(label)), () => isAt(panel, 1));
  await until('its value', async () => /picked\s*9/.test(await panel.locator('.tree').innerText()));
  await act('an edge that cannot be taken', () => bench.clickEdge(drawing, 'Source', 'choosing', 'choosing'), async () => /This edge cannot be taken: its guard is false/.test(await bench.page.locator('.part.statusbar').innerText()));
  // The broadcast can be received in 2,048 ways: each listener is asked.
  const asked = () => panel.locator('.lists').innerText();
  const asks = (process, left) => async () => (await asked()).includes(`Choose what ${process} does (${left} left)`);
  await act('the first listener is asked', () => possible.first().click(), asks('Listener(1)', 11));
  await act('the choice is taken back', () => panel.getByRole('button', { name: /^Take back the choice/ }).click(), async () => (await possible.count()) === 1);
  await act('the first listener is asked again', () => possible.first().click(), asks('Listener(1)', 11));
  const option = (to) => panel.locator('.lists .choice').filter({ hasText: `quiet → ${to}` });
  for (let i = 1; i < 11; i++) {
    await act(`listener ${i + 1} is asked`, () => option(i % 2 === 1 ? 'right' : 'left').click(), asks(`Listener(${i + 1})`, 11 - i));
  }
  await bench.screenshot('vscode-simulator-receivers');
  await goes(panel, 2, () => option('left').click());
  const state = () => panel.locator('.tree').innerText();
  await until('each went where it was sent', async () => /Listener\(1\) right[^]*Listener\(2\) left[^]*Listener\(11\) left/.test(await state()), 30, state);
  // Processes that are not of interest.
  const isOpen = () => panel.getByLabel('Listener(2)', { exact: true }).isVisible();
  await act('the list of processes opens', () => panel.locator('.filter summary').click(), isOpen);
  await act('it is hidden', () => panel.getByLabel('Listener(2)', { exact: true }).uncheck(), async () => !/Listener\(2\) left/.test(await state()));
  assert.match(await state(), /Listener\(1\) right/);
  await act('it is shown', () => panel.getByLabel('Listener(2)', { exact: true }).check(), async () => /Listener\(2\) left/.test(await state()));
  await act('the list of processes closes', () => panel.locator('.filter summary').click(), async () => !(await isOpen()));
}

/** A panel of the height of a few lines is still usable: it scrolls, and the step stays in view. */
async function low() {
  await bench.page.setViewportSize({ width: 1440, height: 420 });
  const panel = await bench.panel('.choices-list .choice');
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  const last = panel.locator('.walk .choice').last();
  await act('the last part is scrolled to', () => last.scrollIntoViewIfNeeded(), async () => {
    const box = await last.boundingBox();
    const bar = await panel.locator('.step-row').boundingBox();
    return box !== null && bar !== null && box.y >= bar.y + bar.height - 1 && bar.y >= 0;
  });
  await bench.screenshot('vscode-simulator-low');
  const possible = panel.locator('ul[aria-label="Possible"] .choice');
  await act('the group is open', () => possible.first().click(), async () => (await possible.count()) === 31);
  await goes(panel, 1, () => possible.nth(1).click());
  await bench.page.setViewportSize({ width: 1440, height: 900 });
}

async function edits() {
  const panel = await bench.panel('.choices-list .choice');
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  await goes(panel, 1, () => firstChoice(panel).click());
  await bench.replace('x >= 2', 'x >= 20');
  await until('the walk ends where it must', async () => /the walk ends before step 1/.test(await panel.locator('.banner').innerText()), 30, () => panel.locator('.banner').innerText());
  await atStep(panel, 0);
  await bench.replace('x >= 20', 'x >= 2');
  await until('it can go on', async () => /after \[2, 8\]/.test(await panel.locator('.lists').innerText()), 30, () => panel.locator('.lists').innerText());
}

/** Saves the walk, opens it again; a model that does not follow says where it ends. */
async function saved() {
  let panel = await bench.panel('.choices-list .choice');
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  await goes(panel, 1, async () => {
    await panel.locator('input.delay').fill('7/2');
    await firstChoice(panel).click();
  });
  await goes(panel, 2, () => firstChoice(panel).click());
  const file = path.join(bench.workspace, 'walk.json');
  await act('the dialog opens', () => panel.getByRole('button', { name: /^Save the walk/ }).click(), () => bench.asks(), { again: 15 });
  await bench.choosePath(file);
  await until('the file', async () => fs.existsSync(file) && fs.statSync(file).size > 0);
  await bench.command('Zonelens: Simulation: Close', async () => (await bench.frameWith('.choices-list .choice')) === undefined);
  await bench.focusGroup();
  await bench.command('Zonelens: Simulation: Open a Saved Walk…', async () => /^\//.test(await bench.page.locator('.quick-input-widget input').first().inputValue({ timeout: 1000 }).catch(() => '')));
  await bench.choosePath(file);
  panel = await bench.panel('.choices-list .choice');
  assert.match(await atStep(panel, 2), /of 2 · t = 9\/2/);
}

/** The worker that knows the zones is killed: the walk goes on without them, and restarting brings another one. */
async function killed() {
  const panel = await bench.panel('.choices-list .choice');
  const zone = () => panel.locator('.zone').innerText();
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  await until('the zone', async () => /Client\.x/.test(await zone()), 30, zone);
  const workers = bench.processes('worker');
  assert.equal(workers.length, 1, workers.join());
  process.kill(workers[0], 'SIGKILL');
  await goes(panel, 1, () => firstChoice(panel).click());
  await until('no zone', async () => /No zone: /.test(await zone()), 30, zone);
  await goes(panel, 2, () => firstChoice(panel).click());
  await goes(panel, 1, () => panel.getByRole('button', { name: /^Back/ }).click());
  await goes(panel, 0, () => panel.getByRole('button', { name: /^Start again/ }).click());
  await until('the zone of another worker', async () => /Client\.x/.test(await zone()), 30, zone);
}

async function fromTrace() {
  await bench.command('Zonelens: Simulation: Close');
  await bench.open('chat.xta');
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
  const trace = await bench.openTrace();
  for (const step of ['1', '2']) {
    await act(`step ${step}`, () => trace.locator('ol.steps').press('ArrowDown'), async () => (await trace.locator('ol.steps li.current').getAttribute('data-step')) === step);
  }
  const panel = await bench.openPanel('.choices-list .choice', () => trace.getByRole('button', { name: /^Simulate from this step/ }).click());
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
  bench = await start(codeServer, path.resolve(vsix), { 'chat.xta': MODEL, 'many.xta': MANY }, path.resolve(screenshots));
  await chapter('five steps by clicks on transitions and edges', byClicks);
  await chapter('back two, on to the end, by keyboard', backAndOn);
  await chapter('a random walk, paused by a key', byItself);
  await chapter('random walks to an expression, a number of steps, a moment', byItselfToAnEnd);
  await chapter('edits keep what they can', edits);
  await chapter('the worker is killed in the middle', killed);
  await chapter('a walk is saved and opened again', saved);
  await chapter('from a step of a trace', fromTrace);
  await chapter('dark', dark);
  await chapter('folded groups, receivers one by one, hidden processes', many);
  await chapter('a low panel', low);
  assert.deepEqual(bench.complaints, [], 'the panel keeps to its content security policy');
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'vscode-simulator-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
