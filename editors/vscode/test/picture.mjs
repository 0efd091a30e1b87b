// Drawing in the real workbench: from an empty model with the mouse to a verdict; a location is moved and only its
// places change; undo gives back every byte; renaming; by keyboard alone; problems on labels; what cannot be edited.
// Usage: node test/picture.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);
// With the line ends of Windows, as a third of all real files has them.
const MODEL = fs.readFileSync(path.join(root, 'examples/crossing.xml'), 'utf8').replaceAll('\n', '\r\n');
const POM = '<?xml version="1.0" encoding="UTF-8"?>\n<project>\n  <modelVersion>4.0.0</modelVersion>\n</project>\n';

let bench;

const text = (name = 'crossing.xml') => fs.readFileSync(path.join(bench.workspace, name), 'utf8');
const picture = (template) => bench.panel(`svg[data-template="${template}"]`);
const node = (panel, name) => panel.locator(`g.node[data-name="${name}"]`);
const edge = (panel, from, to) => panel.locator(`g.edge[data-from="${from}"][data-to="${to}"]`);
const names = async (panel) => (await panel.locator('g.node').evaluateAll((all) => all.map((n) => n.getAttribute('data-name')))).join();
const edges = async (panel) => (await panel.locator('g.edge').evaluateAll((all) => all.map((e) => `${e.getAttribute('data-from')}-${e.getAttribute('data-to')}`))).join();
const words = (locator) => locator.getAttribute('aria-label');
const tool = (panel, name) => act(`the tool ${name}`, () => panel.locator(`button[data-tool="${name}"]`).click(), async () => (await panel.locator(`button[data-tool="${name}"]`).getAttribute('aria-pressed')) === 'true');
const idle = (panel) => until('the gesture is done', async () => (await panel.locator('main[aria-busy]').count()) === 0);

/** A place in the coordinates of the file, on the screen. */
async function spot(panel, template, x, y) {
  const at = await panel.locator(`svg[data-template="${template}"]`).evaluate((svg, [px, py]) => {
    const at = new DOMPoint(px, py).matrixTransform(svg.getScreenCTM());
    return { x: at.x, y: at.y };
  }, [x, y]);
  const frame = await (await panel.frameElement()).boundingBox();
  return { x: frame.x + at.x, y: frame.y + at.y };
}

async function middle(locator) {
  // While it is drawn anew it has no place.
  const box = await until('it is drawn', () => locator.boundingBox({ timeout: 5000 }).catch(() => null));
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(from, to) {
  const { mouse } = bench.page;
  await mouse.move(from.x, from.y);
  await mouse.down();
  await mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await mouse.move(to.x, to.y, { steps: 4 });
  await mouse.up();
}

const field = (panel) => panel.locator('.text-field textarea');

/** Writes into the field that `open` opens, and applies it. */
async function write(panel, open, value, done) {
  await act(`${value} is written`, async () => {
    await act('the field opens', open, async () => (await field(panel).count()) > 0);
    await field(panel).fill(value, { timeout: 5000 }).catch(() => undefined);
    await field(panel).press('Enter', { timeout: 5000 }).catch(() => undefined);
  }, done, { again: 10 });
  await until('the field is closed', async () => (await field(panel).count()) === 0);
}

// ------------------------------------------------------------------------------------------- an empty model

async function draw() {
  const panel = await bench.openPanel('svg[data-template="P"]', async () => {
    await bench.command('Zonelens: New Model…', async () => /What to begin with/.test(await bench.page.locator('.quick-input-widget input').first().getAttribute('placeholder', { timeout: 1000 }).catch(() => '')));
    await bench.choose('to draw', (label) => /^Empty, to draw/.test(label));
  });
  await bench.hideSideBar();
  await until('the empty template', async () => (await names(panel)) === '');
  await tool(panel, 'location');
  const click = async (x, y, count) => {
    await act(`location ${count}`, async () => {
      const at = await spot(panel, 'P', x, y);
      await bench.page.mouse.click(at.x, at.y);
      await idle(panel);
    }, async () => (await panel.locator('g.node').count()) === count);
  };
  await click(42, 60, 1);
  const first = await panel.locator('g.node').first().getAttribute('data-name');
  assert.match(await words(panel.locator('g.node').first()), /initial/, 'the first location is the initial one');
  await idle(panel);
  const from = await middle(panel.locator('g.node .outline').first());
  await act('location 2', async () => {
    await bench.page.mouse.click(from.x + 204, from.y + 34);
    await idle(panel);
  }, async () => (await panel.locator('g.node').count()) === 2);
  await tool(panel, 'select');
  await write(panel, async () => node(panel, first).locator('.outline').dblclick({ timeout: 5000 }), 'start', async () => /^start,/.test(await names(panel)));
  const second = (await names(panel)).split(',')[1];
  await write(panel, () => node(panel, second).press('n'), 'end', async () => (await names(panel)) === 'start,end');
  // An edge by dragging; one by clicks, with a nail on its way.
  await tool(panel, 'edge');
  const places = async () => [await middle(node(panel, 'start').locator('.outline').first()), await middle(node(panel, 'end').locator('.outline').first())];
  await act('an edge', async () => {
    await drag(...(await places()));
    await idle(panel);
  }, async () => (await edges(panel)) === 'start-end');
  await act('an edge back', async () => {
    const [a, b] = await places();
    await bench.page.mouse.click(b.x, b.y);
    await bench.page.mouse.click((a.x + b.x) / 2, Math.max(a.y, b.y) + 100);
    await bench.page.mouse.click(a.x, a.y);
    await idle(panel);
  }, async () => (await edges(panel)) === 'start-end,end-start');
  await tool(panel, 'select');
  await write(panel, () => edge(panel, 'start', 'end').press('g'), 'x >= 2', async () => /guard x >= 2/.test(await words(edge(panel, 'start', 'end'))));
  await write(panel, () => edge(panel, 'end', 'start').press('u'), 'x = 0', async () => /update x = 0/.test(await words(edge(panel, 'end', 'start'))));
  await write(panel, () => node(panel, 'start').press('i'), 'x <= 5', async () => /invariant x <= 5/.test(await words(node(panel, 'start'))));
  // Verified from the picture; the verdict stands over the text.
  await bench.command('Zonelens: Verify All Queries of This File');
  await bench.lens(/✓ satisfied/, 60);
  await node(panel, 'end').focus();
  await bench.settled();
  await bench.screenshot('vscode-draw');
  // VS Code asks when an unsaved picture is closed, also where the text stays open.
  await node(panel, 'end').focus();
  await bench.command('View: Revert and Close Editor', async () => (await bench.frameWith('svg[data-template="P"]')) === undefined);
}

// ----------------------------------------------------------------------------------------------- a real file

/** The attributes that differ between two texts: the elements with the names of the attributes. */
function changes(before, after) {
  const parts = (all) => all.split(/(<[^>]*>)/);
  const [a, b] = [parts(before), parts(after)];
  assert.equal(a.length, b.length, 'no element came or went');
  const attributes = (tag) => [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
  const out = [];
  let inside = '';
  for (const [i, old] of a.entries()) {
    inside = /<location/.test(old) ? /id="(\w+)"/.exec(old)[1] : /<transition/.test(old) ? 'an edge' : inside;
    if (old !== b[i]) {
      const [was, is] = [attributes(old), attributes(b[i])];
      assert.deepEqual(was.map(([name]) => name), is.map(([name]) => name), 'the order of attributes');
      assert.equal(old.replace(/"[^"]*"/g, ''), b[i].replace(/"[^"]*"/g, ''), 'all but values');
      const which = /^<(\w+)/.exec(old)[1];
      was.forEach(([name, value], n) => value !== is[n][1] && out.push(`${inside} ${which} ${name} ${Number(is[n][1]) - Number(value)}`));
    }
  }
  return out;
}

const save = async (panel) => {
  await act('it is saved', async () => {
    await panel.locator('svg').first().focus();
    await bench.press('Control+S');
  }, () => bench.isSaved());
};

async function moveAndUndo() {
  await bench.open('crossing.xml');
  await bench.lens(/▶ verify all \(2\)$/, 60);
  const panel = await bench.openPanel('svg[data-template="Train"]', () => bench.command('Zonelens: Show the Diagram'));
  assert.equal(text(), MODEL);
  const before = await middle(node(panel, 'near').locator('.outline').first());
  const scale = await panel.locator('svg[data-template="Train"]').evaluate((svg) => svg.getScreenCTM().a);
  await drag(before, { x: before.x + 34 * scale, y: before.y - 17 * scale });
  await until('it was moved', async () => /Move `near`/.test(await panel.locator('.said').textContent()), 20, () => panel.locator('.said').textContent());
  await save(panel);
  assert.deepEqual(changes(MODEL, text()), ['id1 location x 34', 'id1 location y -17', 'id1 name x 34', 'id1 name y -17', 'id1 label x 34', 'id1 label y -17']);
  // Undo reaches the document, and gives back every byte.
  await act('it is undone', async () => {
    await node(panel, 'near').focus();
    await bench.press('Control+Z');
  }, async () => !(await bench.isSaved()));
  await save(panel);
  assert.equal(text(), MODEL, 'undo restores the bytes');
  await until('the picture is back', async () => Math.abs((await middle(node(panel, 'near').locator('.outline').first())).x - before.x) < 2);
  await act('it is done again', async () => {
    await node(panel, 'near').focus();
    await bench.press('Control+Y');
  }, async () => !(await bench.isSaved()));
  await act('and undone', async () => {
    await node(panel, 'near').focus();
    await bench.press('Control+Z');
  }, () => bench.isSaved());
}

async function typing() {
  const panel = await picture('Train');
  await act('the field opens', () => node(panel, 'near').press('F2'), async () => (await field(panel).count()) > 0);
  await act('something is typed', async () => {
    await field(panel).press('End');
    await field(panel).press('x');
    await field(panel).press('y');
  }, async () => /^near.*y$/.test(await field(panel).inputValue()));
  const typed = await field(panel).inputValue();
  await act('typing is undone', () => field(panel).press('Control+Z'), async () => (await field(panel).inputValue()) !== typed);
  assert.ok(await bench.isSaved(), 'the document is as it was');
  await act('the field closes', () => field(panel).press('Escape'), async () => (await field(panel).count()) === 0);
  assert.ok(await node(panel, 'near').evaluate((group) => group === document.activeElement), 'the location has the focus again');
}

async function rename() {
  const panel = await picture('Train');
  await write(panel, async () => node(panel, 'near').locator('.outline').first().dblclick({ timeout: 5000 }), 'close', async () => /far,close,/.test(await names(panel)));
  await save(panel);
  assert.equal(text(), MODEL.replace('>near<', '>close<').replaceAll('Train.near', 'Train.close'));
  // A name that another location has is refused where it is typed.
  await act('the field opens', () => node(panel, 'close').press('F2'), async () => (await field(panel).count()) > 0);
  await act('it is refused', async () => {
    await field(panel).fill('far');
    await field(panel).press('Enter');
  }, async () => /there is a location `far` already/.test(await panel.locator('.text-field .note').textContent()));
  await act('the field closes', () => field(panel).press('Escape'), async () => (await field(panel).count()) === 0);
}

/** Nothing but keys: a location, its name, an edge to it, its guard, another target, a step aside, away with it. */
async function byKeyboard() {
  const panel = await picture('Train');
  const before = text();
  const begin = () => panel.locator('svg[data-template="Train"]').focus();
  const focused = () => panel.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  const tab = (wanted) => act(`the focus is on ${wanted}`, async () => {
    // After the last element the focus leaves the page.
    await ((await focused()) === '' ? begin() : bench.press('Tab'));
  }, async () => wanted.test(await focused()), { again: 0.3 });
  await begin();
  await tab(/^Location far/);
  await act('the tool', () => bench.press('l'), async () => (await panel.locator('main').getAttribute('data-tool')) === 'location');
  const count = await panel.locator('g.node').count();
  await act('a location', async () => {
    await bench.press('Enter');
    await idle(panel);
  }, async () => (await panel.locator('g.node').count()) === count + 1);
  await until('it has the focus', async () => /^Location without a name/.test(await focused()), 20, focused);
  await act('the tool', () => bench.press('v'), async () => (await panel.locator('main').getAttribute('data-tool')) === 'select');
  await write(panel, () => bench.press('n'), 'aside', async () => /aside/.test(await names(panel)));
  await until('it has the focus', async () => /^Location aside/.test(await focused()), 20, focused);
  await act('an edge begins', () => bench.press('e'), async () => /^Edge from aside/.test(await panel.locator('.said').textContent()));
  await tab(/^Location cross/);
  await act('the edge', async () => {
    await bench.press('Enter');
    await idle(panel);
  }, async () => (await edges(panel)).includes('aside-cross'));
  await until('it has the focus', async () => /^Edge from aside to cross/.test(await focused()), 20, focused);
  await write(panel, () => bench.press('g'), 'x > 3', async () => /guard x > 3/.test(await focused()));
  await until('its handles', async () => (await panel.locator('.handle').count()) === 3);
  await panel.locator('button[data-deed="target"]').press('Enter');
  await tab(/^Location far/);
  await act('it ends elsewhere', async () => {
    await bench.press('Enter');
    await idle(panel);
  }, async () => (await edges(panel)).includes('aside-far'));
  await until('the edge has the focus again', async () => /^Edge from aside to far/.test(await focused()), 20, focused);
  await act('it is selected', () => node(panel, 'aside').focus(), async () => (await panel.locator('.inspector .what').textContent()) === 'Location aside');
  await panel.locator('select[data-deed="kind"]').selectOption('committed');
  await until('it is committed', async () => /committed/.test(await words(node(panel, 'aside'))));
  const place = () => node(panel, 'aside').locator('.outline').first().boundingBox();
  const from = await place();
  await node(panel, 'aside').focus();
  await bench.press('ArrowDown', 'ArrowDown');
  await until('two steps are one gesture', async () => /Move `aside`/.test(await panel.locator('.said').textContent()));
  assert.ok((await place()).y > from.y + 10);
  await save(panel);
  const after = text();
  const added = /<location id="(id\d+)"[^>]*>\s*<name[^>]*>aside<\/name>\s*<committed\/>\s*<\/location>/.exec(after);
  assert.ok(added, after);
  assert.match(after, new RegExp(`<source ref="${added[1]}"/>\\s*<target ref="id0"/>\\s*<label kind="guard"[^>]*>x &gt; 3</label>`));
  assert.ok(!/[^\r]\n/.test(after), 'the line ends stay');
  await act('it is deleted, with its edge', async () => {
    await node(panel, 'aside').focus();
    await bench.press('Delete');
    await idle(panel);
  }, async () => !/aside/.test(await names(panel)));
  assert.match(await panel.locator('.said').textContent(), /the edge at it was deleted too/);
  await save(panel);
  assert.equal(text(), before);
  // Everything has a spoken name.
  for (const name of await panel.locator('button, [role="button"], textarea, select, input').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label') ?? e.closest('label')?.textContent ?? ''))) {
    assert.ok(name, 'every control has a name');
  }
}

async function problems() {
  const panel = await picture('Train');
  const guard = edge(panel, 'close', 'cross');
  await write(panel, () => guard.press('g'), 'x >= ', async () => /guard x >=/.test(await words(guard)) && !/x >= 6/.test(await words(guard)));
  await until('the label is marked', async () => (await guard.locator('.squiggle.error').count()) === 1, 20, () => words(guard));
  await until('it is spoken', async () => /error: /.test(await words(guard)), 20, () => words(guard));
  await act('the field says it', () => guard.press('g'), async () => /the text ends too early/.test(await panel.locator('.text-field .note').textContent({ timeout: 1000 }).catch(() => '')));
  await bench.screenshot('vscode-draw-problem');
  // Names are offered while they are typed; Tab takes the first.
  await act('a name is offered', async () => {
    await field(panel).fill('');
    await field(panel).pressSequentially('ap');
  }, async () => /^appr/.test(await panel.locator('.offers li').first().textContent({ timeout: 1000 }).catch(() => '')));
  await act('it is taken', () => field(panel).press('Tab'), async () => (await field(panel).inputValue()) === 'appr');
  await act('it is corrected', async () => {
    await field(panel).fill('x >= 6', { timeout: 5000 }).catch(() => undefined);
    await field(panel).press('Enter', { timeout: 5000 }).catch(() => undefined);
  }, async () => (await field(panel).count()) === 0);
  await until('no mark', async () => (await panel.locator('.squiggle').count()) === 0);
}

/** The text changes while a field is open: what it edits is still the same, or the field says that it is not. */
async function meanwhile() {
  const panel = await picture('Train');
  const guard = edge(panel, 'close', 'cross');
  const open = () => act('the field opens', () => guard.press('g'), async () => (await field(panel).count()) > 0);
  await open();
  await bench.replace('>far</name>', '>away</name>');
  await until('the picture is the new one', async () => /away/.test(await names(panel)));
  await act('it is applied', async () => {
    await field(panel).fill('x >= 7', { timeout: 5000 }).catch(() => undefined);
    await field(panel).press('Enter', { timeout: 5000 }).catch(() => undefined);
  }, async () => /x >= 7/.test(await words(guard)));
  await open();
  await bench.replace('x &gt;= 7', 'x &gt;= 6');
  await until('the picture is the new one', async () => /x >= 6/.test(await words(guard)));
  await act('it is refused', async () => {
    await field(panel).fill('x >= 8', { timeout: 5000 }).catch(() => undefined);
    await field(panel).press('Enter', { timeout: 5000 }).catch(() => undefined);
  }, async () => /changed in the text meanwhile/.test(await panel.locator('.text-field .note').textContent({ timeout: 1000 }).catch(() => '')));
  await act('the field closes', () => field(panel).press('Escape'), async () => (await field(panel).count()) === 0);
  assert.match(await words(guard), /guard x >= 6/);
  await bench.replace('>away</name>', '>far</name>');
  await until('the picture is the new one', async () => /far/.test(await names(panel)));
}

async function many() {
  const panel = await picture('Train');
  await act('only this template', () => panel.getByRole('tab', { name: 'Template Gate' }).click(), async () => (await names(panel)) === 'up,lowering,down,raising');
  // A rubber band around two locations, and one more with Shift; all move together.
  const places = {};
  for (const name of ['up', 'lowering', 'down']) {
    places[name] = await middle(node(panel, name).locator('.outline').first());
  }
  const selected = async () => (await panel.locator('g.node.selected').evaluateAll((all) => all.map((n) => n.getAttribute('data-name')))).join();
  await act('two are selected', () => drag({ x: places.up.x - 26, y: places.up.y - 26 }, { x: places.lowering.x + 26, y: places.lowering.y + 26 }), async () => (await selected()) === 'up,lowering');
  await act('three are selected', async () => {
    await drag({ x: places.up.x - 26, y: places.up.y - 26 }, { x: places.lowering.x + 26, y: places.lowering.y + 26 });
    await node(panel, 'down').locator('.outline').first().click({ modifiers: ['Shift'] });
  }, async () => (await selected()) === 'up,lowering,down');
  const before = text();
  await drag(places.lowering, { x: places.lowering.x + 40, y: places.lowering.y + 40 });
  await until('they were moved', async () => /Move 3 locations/.test(await panel.locator('.said').textContent()), 20, () => panel.locator('.said').textContent());
  await save(panel);
  const moved = changes(before, text());
  assert.ok(moved.length > 0 && moved.every((change) => /^id\d+ (location|name|label) [xy] \d+$/.test(change)), moved.join('\n'));
  await bench.screenshot('vscode-draw-many');
  // An end of an edge goes to another location.
  await act('an edge is selected', () => bench.clickEdge(panel, 'Gate', 'up', 'lowering'), async () => (await panel.locator('.handle.end').count()) === 2);
  await act('its end is elsewhere', async () => {
    await drag(await middle(panel.locator('.handle[data-end="target"]')), await middle(node(panel, 'raising').locator('.outline').first()));
    await idle(panel);
  }, async () => (await edges(panel)).includes('up-raising'));
  await act('it is undone', async () => {
    await panel.locator('svg').first().focus();
    await bench.press('Control+Z');
  }, async () => !(await edges(panel)).includes('up-raising'), { again: 8 });
}

/** Loops, branchpoints, nails, labels; and looking closer. */
async function shapes() {
  const panel = await picture('Gate');
  const done = async (what, action, effect) => act(what, async () => {
    await action();
    await idle(panel);
  }, effect, { again: 8 });
  const outline = (name) => middle(node(panel, name).locator('.outline').first());
  await tool(panel, 'edge');
  await done('a loop', async () => {
    const at = await outline('up');
    await bench.page.mouse.click(at.x, at.y);
    await bench.page.mouse.click(at.x, at.y);
  }, async () => (await edges(panel)).includes('up-up'));
  await until('its nails', async () => (await panel.locator('.handle.nail').count()) === 2);
  await tool(panel, 'branchpoint');
  await done('a branchpoint', async () => {
    const at = await outline('lowering');
    await bench.page.mouse.click(at.x, at.y - 60);
  }, async () => (await panel.locator('g.node.branchpoint').count()) === 1);
  await tool(panel, 'select');
  const loop = edge(panel, 'up', 'up');
  const path = () => loop.locator('path.line').getAttribute('d');
  await loop.focus();
  const before = await path();
  await done('a nail is dragged', async () => {
    const at = await middle(panel.locator('.handle.nail').first());
    await drag(at, { x: at.x - 30, y: at.y - 10 });
  }, async () => (await path()) !== before);
  await done('a nail is removed', () => panel.locator('.handle.nail').first().dblclick({ timeout: 5000 }).catch(() => undefined), async () => (await panel.locator('.handle.nail').count()) === 1);
  await save(panel);
  const saved = text();
  const label = edge(panel, 'lowering', 'down').locator('text.guard');
  await done('a label is dragged', async () => {
    const at = await middle(label);
    await drag(at, { x: at.x + 20, y: at.y + 10 });
  }, async () => /Move the guard/.test(await panel.locator('.said').textContent()));
  await save(panel);
  assert.deepEqual(changes(saved, text()).map((change) => change.replace(/-?\d+$/, 'n')), ['an edge label x n', 'an edge label y n']);
  await edge(panel, 'lowering', 'down').focus();
  const at = await label.getAttribute('y');
  await done('a label is moved by keys', () => panel.locator('button[data-deed="guard"]').press('ArrowDown'), async () => (await label.getAttribute('y')) !== at);
  // The wheel with Ctrl, as a touch pad pinches: what is under the pointer stays there.
  const spot_ = await outline('down');
  const width = async () => (await node(panel, 'down').locator('.outline').first().boundingBox()).width;
  const small = await width();
  await act('it is larger', async () => {
    await bench.page.mouse.move(spot_.x, spot_.y);
    await bench.page.keyboard.down('Control');
    await bench.page.mouse.wheel(0, -120);
    await bench.page.keyboard.up('Control');
  }, async () => (await width()) > small * 1.2);
  const now = await outline('down');
  assert.ok(Math.hypot(now.x - spot_.x, now.y - spot_.y) < 6, JSON.stringify([spot_, now]));
  await act('it fits', () => panel.getByRole('button', { name: /^Fit to/ }).click(), async () => Math.abs((await width()) - small) < 1);
}

async function templates() {
  const panel = await picture('Gate');
  await write(panel, () => panel.getByRole('button', { name: 'Add a template' }).click(), 'Driver', async () => (await panel.locator('svg[data-template="Driver"]').count()) === 1);
  await until('it has one location', async () => (await panel.locator('svg[data-template="Driver"] g.node').count()) === 1);
  await write(panel, () => panel.getByRole('button', { name: 'Parameters of the template Driver' }).click(), 'const int n', async () => /Driver\(const int n\)/.test(await panel.locator('h2').first().textContent()));
  await write(panel, () => panel.getByRole('button', { name: 'Rename the template Driver' }).click(), 'Pilot', async () => (await panel.locator('svg[data-template="Pilot"]').count()) === 1);
  await save(panel);
  assert.match(text(), /<name>Pilot<\/name>\s*<parameter>const int n<\/parameter>/);
}

async function dark() {
  const panel = await picture('Pilot');
  await act('all templates', () => panel.getByRole('tab', { name: /^All templates/ }).click(), async () => (await panel.locator('svg').count()) === 3);
  await act('an edge is selected', () => bench.clickEdge(panel, 'Train', 'cross', 'far'), async () => (await panel.locator('.handle.nail').count()) === 1);
  await bench.configure({ 'workbench.colorTheme': 'Default Dark Modern' });
  const again = await picture('Train');
  await until('the theme', async () => (await again.locator('body').getAttribute('class'))?.includes('vscode-dark'), 30);
  await bench.settled();
  await bench.screenshot('vscode-draw-dark');
  await bench.configure({ 'workbench.colorTheme': 'Default Light Modern' });
}

// ---------------------------------------------------------------------------------- what cannot be edited

async function closePictures() {
  const groups = bench.page.locator('.part.editor .editor-group-container');
  await bench.focusGroup();
  await bench.command('View: Close Editors in Other Groups', async () => (await groups.count()) === 1);
}

async function locked() {
  await closePictures();
  await bench.open('gate.xta');
  await bench.lens(/verify/, 60);
  let panel = await bench.openPanel('svg[data-template="P"]', () => bench.command('Zonelens: Show the Diagram'));
  const said = () => panel.locator('.said').textContent();
  await until('the reason', async () => /Editing is off: pictures of `\.xta` files/.test(await said()), 20, said);
  assert.ok(await panel.locator('button[data-tool="location"]').isDisabled());
  await closePictures();
  // Malformed: the reason again, and it goes with its cause.
  await bench.open('crossing.xml');
  panel = await bench.openPanel('svg[data-template="Train"]', () => bench.command('Zonelens: Show the Diagram'));
  await bench.replace('<init ref="id0"/>', '<init ref="id0">');
  await until('the reason', async () => /Editing is off: correct the XML/.test(await said()), 20, said);
  await bench.replace('<init ref="id0">', '<init ref="id0"/>');
  await until('it can be edited', async () => !/Editing is off/.test(await said()) && !(await panel.locator('button[data-tool="location"]').isDisabled()), 20, said);
  await bench.save();
  await closePictures();
  await bench.configure({ 'files.readonlyInclude': { '**/kept.xml': true } });
  await bench.open('kept.xml');
  panel = await bench.openPanel('svg[data-template="Train"]', () => bench.command('Zonelens: Show the Diagram'));
  await until('the reason', async () => /Editing is off: this file is read-only/.test(await said()), 20, said);
  await drag(await middle(node(panel, 'far').locator('.outline').first()), { x: 1300, y: 500 });
  await bench.page.waitForTimeout(1000);
  assert.ok(await bench.isSaved(), 'nothing was edited');
  await closePictures();
}

async function noModel() {
  await bench.open('pom.xml');
  const title = 'View: Reopen Editor With...';
  await bench.command(title, async () => /Select editor/i.test(await bench.page.locator('.quick-input-widget input').first().getAttribute('placeholder', { timeout: 1000 }).catch(() => '')));
  await bench.choose('Diagram', (label) => /^Diagram \(Zonelens\)/.test(label));
  const panel = await bench.panel('.sheets > p');
  await until('one sentence', async () => /This file is not a model of timed automata, so there is no picture of it\./.test(await panel.locator('.sheets').textContent()));
  await bench.screenshot('vscode-draw-no-model');
  await act('the text', () => panel.getByRole('button', { name: /^Open the text/ }).click(), async () => (await bench.place('<modelVersion>')) !== null);
}

try {
  const gate = 'process P() {\n    state a, b;\n    init a;\n    trans\n        a -> b { };\n}\nsystem P;\n\n//@ query E<> P.b\n';
  const files = { 'crossing.xml': MODEL, 'kept.xml': MODEL, 'gate.xta': gate, 'pom.xml': POM };
  bench = await start(codeServer, path.resolve(vsix), files, path.resolve(screenshots));
  const only = process.env.CHAPTERS?.split(',');
  const all = [
    ['draw', 'from an empty model with the mouse to a verdict', draw],
    ['move', 'a location is moved, and undone to the byte', moveAndUndo],
    ['typing', 'in a field, undo means typing', typing],
    ['rename', 'a location is renamed from the picture', rename],
    ['keyboard', 'by keyboard alone', byKeyboard],
    ['problems', 'problems stand on labels', problems],
    ['meanwhile', 'the text changes while a field is open', meanwhile],
    ['many', 'many at once; an end of an edge', many],
    ['shapes', 'loops, branchpoints, nails, labels, zoom', shapes],
    ['templates', 'templates: add, parameters, rename', templates],
    ['dark', 'dark', dark],
    ['locked', 'what cannot be edited says why', locked],
    ['no model', 'a file that is no model', noModel],
  ];
  for (const [key, name, tell] of all.filter(([key]) => only === undefined || only.includes(key))) {
    await chapter(name, tell);
  }
  assert.deepEqual(bench.complaints, [], 'the page keeps to its content security policy');
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'vscode-draw-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
