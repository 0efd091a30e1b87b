// A UPPAAL user's first ten minutes, as docs/from-uppaal.md tells them: open an `.xml`, see it, simulate it by clicks on
// edges, break it, run into the deadlock, verify, walk the counterexample, fix it.
// Usage: node test/uppaal.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);
const MODEL = fs.readFileSync(path.join(root, 'examples/crossing.xml'), 'utf8');

let bench;

const simulator = () => bench.panel('.choices-list .choice');
const place = (panel) => panel.locator('output.place').innerText();

/** Does what leads to a step; not another time once it is there. */
async function goes(panel, number, action) {
  await act(`step ${number}`, action, async () => (await place(panel)).startsWith(`Step ${number} of`), { again: 15 });
  return await place(panel);
}

/** The edge to `cross` is marked in the text: at its labels, by a server that says where they are, else where it begins. */
async function crossingIsMarked() {
  const marked = async () => (await bench.markedLines()).join('\n');
  await until('the edge is marked', async () => /x &gt;= 6/.test(await marked()) && !/<transition/.test(await marked()), 30, marked);
}

async function see() {
  await bench.open('crossing.xml');
  await until('the language', async () => (await bench.language()) === 'Timed automata (UPPAAL XML)', 60, () => bench.language());
  await bench.lens(/▶ verify all \(2\)$/, 60);
  const drawing = await bench.openPanel('svg g.node', () => bench.command('Zonelens: Show the Diagram'));
  const names = async () => (await drawing.locator('g.node').evaluateAll((all) => all.map((n) => n.getAttribute('data-name')))).join();
  await bench.hideSideBar();
  await until('its templates', async () => (await names()) === 'far,near,cross,up,lowering,down,raising', 30, names);
  await bench.settled();
  await bench.screenshot('uppaal-open');
}

async function simulate() {
  await bench.focusGroup();
  const panel = await bench.openPanel('.choices-list .choice', () => bench.command('Zonelens: Simulate'));
  const drawing = await bench.panel('svg g.node');
  await until('the start is lit', async () => (await drawing.locator('g.node.lit').count()) === 2);
  const edges = [
    ['Train', 'far', 'near'],
    ['Gate', 'lowering', 'down'],
    ['Train', 'near', 'cross'],
    ['Train', 'cross', 'far'],
    ['Gate', 'raising', 'up'],
  ];
  for (const [i, edge] of edges.entries()) {
    await goes(panel, i + 1, () => bench.clickEdge(drawing, ...edge));
  }
  const back = panel.getByRole('button', { name: /^Back/ });
  await goes(panel, 4, () => back.click());
  assert.match(await goes(panel, 3, () => back.click()), /Step 3 of 5 · t = 6/);
  await until('the edge is lit', async () => (await drawing.locator('g.edge.taken').getAttribute('data-to')) === 'cross');
  await until('the zone', async () => /Train\.x/.test(await panel.locator('.zone').innerText()));
  await crossingIsMarked();
  await drawing.locator('svg').first().scrollIntoViewIfNeeded();
  await bench.screenshot('uppaal-simulate');
}

/** One update is forgotten: the gate would have to be up before it begins to rise. */
async function breakIt() {
  const panel = await simulator();
  await bench.replace('y="136">y = 0', 'y="136">');
  const banner = () => panel.locator('.banner').innerText();
  await until('the walk ends where it must', async () => /the walk ends before step 4/.test(await banner()), 30, banner);
  assert.match(await place(panel), /Step 3 of 3 .*nothing is possible/);
  const blocked = await panel.locator('ul[aria-label="Blocked"] .choice').allInnerTexts();
  assert.ok(blocked.some((text) => /Train: cross → far, Gate: down → raising[^]*invariant/.test(text)), blocked.join('\n'));
  await act('the reason is in view', () => panel.locator('.choice.blocked').first().scrollIntoViewIfNeeded(), () => panel.locator('.choice.blocked').first().isVisible());
  await until('the zone', async () => /Train\.x/.test(await panel.locator('.zone').innerText()));
  await bench.screenshot('uppaal-deadlock');
}

async function verify() {
  await bench.command('Zonelens: Simulation: Close');
  await bench.focusGroup();
  await bench.press('Control+End');
  await bench.command('Zonelens: Verify All Queries of This File');
  await bench.lens(/✓ satisfied/, 60);
  await bench.lens(/✗ violated/, 60);
  await bench.focusGroup();
  await bench.settled();
  await bench.screenshot('uppaal-verdict');
}

async function counterexample() {
  const trace = await bench.openTrace('deadlock');
  const current = async () => await trace.locator('ol.steps li.current').getAttribute('data-step');
  for (const step of ['1', '2', '3']) {
    await act(`step ${step}`, () => trace.locator('ol.steps').press('ArrowDown'), async () => (await current()) === step);
  }
  assert.match(await place(trace), /Step 3 of 3/);
  const values = () => trace.locator('.values').innerText();
  await until('the values of the step', async () => /Train\s+cross\s+● was near/.test(await values()), 30, values);
  await crossingIsMarked();
  await bench.configure({ 'workbench.colorTheme': 'Default Dark Modern' });
  await until('the theme', async () => (await trace.locator('body').getAttribute('class'))?.includes('vscode-dark'), 30);
  await bench.settled();
  await bench.screenshot('uppaal-trace');
  await bench.configure({ 'workbench.colorTheme': 'Default Light Modern' });
  await bench.command('Zonelens: Trace: Close');
}

async function fix() {
  await bench.replace('y="136"></label>', 'y="136">y = 0</label>');
  await bench.save();
  assert.equal(fs.readFileSync(path.join(bench.workspace, 'crossing.xml'), 'utf8'), MODEL, 'nothing else was changed');
  await bench.command('Zonelens: Verify All Queries of This File');
  await bench.focusGroup();
  await bench.press('Control+End');
  await until('both are satisfied', async () => (await bench.lenses()).filter((text) => /✓ satisfied/.test(text)).length === 2, 60, async () => (await bench.lenses()).join(' | '));
  await bench.settled();
  await bench.screenshot('uppaal-fixed');
}

try {
  bench = await start(codeServer, path.resolve(vsix), { 'crossing.xml': MODEL }, path.resolve(screenshots));
  await chapter('an .xml is opened and seen', see);
  await chapter('five steps by clicks on edges, back two', simulate);
  await chapter('broken: on to a deadlock', breakIt);
  await chapter('verdicts', verify);
  await chapter('the counterexample, step by step', counterexample);
  await chapter('fixed', fix);
  assert.deepEqual(bench.complaints, [], 'the panels keep to their content security policy');
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'uppaal-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
