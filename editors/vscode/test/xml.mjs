// `.xml` opened first, in the real workbench: other XML starts nothing, a model is recognised by its text and has all
// that `.xta` has, the choice of plain XML is kept, and nothing runs automatically in an untrusted workspace.
// Usage: node test/xml.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);

const MODEL = 'Timed automata (UPPAAL XML)';
const POM = `<?xml version="1.0" encoding="utf-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
</project>
`;
/** As UPPAAL writes them, with a comment before the document type: no rule about first lines finds it. */
const LAMP = `<?xml version="1.0" encoding="utf-8"?>
<!-- A lamp: pressed twice at once it is bright. -->
<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' 'http://www.it.uu.se/research/group/darts/uppaal/flat-1_1.dtd'>
<nta>
  <declaration>chan press;</declaration>
  <template>
    <name>Lamp</name>
    <declaration>clock x;</declaration>
    <location id="id0" x="0" y="0"><name x="-10" y="-34">off</name></location>
    <location id="id1" x="170" y="0"><name x="160" y="-34">dim</name></location>
    <location id="id2" x="340" y="0"><name x="330" y="-34">bright</name></location>
    <init ref="id0"/>
    <transition><source ref="id0"/><target ref="id1"/>
      <label kind="synchronisation" x="60" y="-34">press?</label><label kind="assignment" x="60" y="-17">x = 0</label></transition>
    <transition><source ref="id1"/><target ref="id2"/>
      <label kind="guard" x="220" y="-34">x &lt; 5</label><label kind="synchronisation" x="220" y="-17">press?</label></transition>
    <transition><source ref="id1"/><target ref="id0"/>
      <label kind="guard" x="60" y="40">x &gt;= 5</label><label kind="synchronisation" x="60" y="57">press?</label><nail x="85" y="34"/></transition>
    <transition><source ref="id2"/><target ref="id0"/>
      <label kind="synchronisation" x="150" y="106">press?</label><nail x="340" y="102"/><nail x="0" y="102"/></transition>
  </template>
  <template>
    <name>User</name>
    <location id="id3" x="0" y="0"><name x="-10" y="-34">idle</name></location>
    <init ref="id3"/>
    <transition><source ref="id3"/><target ref="id3"/>
      <label kind="synchronisation" x="-20" y="50">press!</label><nail x="-30" y="48"/><nail x="30" y="48"/></transition>
  </template>
  <system>system Lamp, User;</system>
  <queries>
    <query><formula>E&lt;&gt; Lamp.bright</formula><comment>It can be bright.</comment></query>
    <query><formula>A[] Lamp.bright imply Lamp.x &lt; 5</formula><comment></comment></query>
  </queries>
</nta>
`;

/** A stand-in for the extensions that check XML: it complains of every document of that language, once. */
const CHECKER = {
  'package.json': JSON.stringify({
    name: 'xml-checker', publisher: 'test', version: '0.0.1', description: 'complains of all XML', license: 'MIT',
    engines: { vscode: '^1.91.0' }, main: './main.js', activationEvents: ['onLanguage:xml'],
  }),
  'README.md': 'A stand-in.\n',
  'main.js': `const vscode = require('vscode');
exports.activate = () => {
  const all = vscode.languages.createDiagnosticCollection('xml-checker');
  const look = (d) => d.languageId === 'xml' && all.set(d.uri, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 5), 'checked as plain XML', 0)]);
  vscode.workspace.textDocuments.forEach(look);
  vscode.workspace.onDidOpenTextDocument(look);
  vscode.workspace.onDidCloseTextDocument((d) => all.delete(d.uri));
};
`,
};

const begin = Date.now();
let bench;

const languageIs = (name) => until(`the language is ${name}`, async () => (await bench.language()) === name, 30, () => bench.language());
const buttons = async () => await bench.page.locator('.editor-actions .action-label').evaluateAll((all) => all.map((b) => b.getAttribute('aria-label') ?? '').filter((l) => /Verify All|Show the Diagram/.test(l)));
const statusItem = () => bench.page.locator('[id="zonelens.zonelens.zonelens.status"]');
/** How many complaints of the stand-in are on the screen. */
const complaints = async () => (await bench.rectangles('.squiggly-error')).length;
const close = async () => {
  const tabs = bench.page.locator('.tab');
  await bench.focusGroup();
  const before = await tabs.count();
  await bench.command('View: Close Editor', async () => (await tabs.count()) < before);
};
const reopen = async (name) => {
  await close();
  await bench.open(name);
};

async function otherXml() {
  await bench.open('pom.xml');
  await languageIs('XML');
  // It was awake and looked: there is still nothing of ours.
  await until('the extension is awake', async () => /zonelens\.zonelens.*onLanguage:xml/.test(bench.hostLog()), 60, async () => bench.hostLog().slice(-2000));
  await until('the other extension complains', async () => (await complaints()) === 1);
  await bench.page.waitForTimeout(3000);
  assert.equal(await bench.language(), 'XML');
  assert.deepEqual(bench.processes('lsp'), [], 'no server for other XML');
  assert.equal(await statusItem().count(), 0, 'no status item for other XML');
  assert.deepEqual(await buttons(), [], 'no buttons on other XML');
  await close();
}

async function firstModel() {
  await bench.open('lamp.xml');
  await languageIs(MODEL);
  await until('the buttons', async () => (await buttons()).length === 2, 30, async () => (await buttons()).join());
  await bench.lens(/▶ verify$/, 60);
  await statusItem().waitFor();
  assert.equal(bench.processes('lsp').length, 1, 'one server');
  assert.equal(await bench.page.locator('.tab.active.dirty').count(), 0, 'the text was not touched');
  await until('the other extension is silent', async () => (await complaints()) === 0);
}

async function diagnostic() {
  await bench.replace('x = 0', 'y = 0');
  await until('a squiggle under y, once', async () => {
    const text = await bench.place('y = 0');
    const marks = await bench.rectangles('.squiggly-error');
    return text && marks.length === 1 && Math.abs(marks[0].left - text.left) < 4;
  }, 20, async () => JSON.stringify([await bench.rectangles('.squiggly-error'), await bench.place('y = 0')]));
  await bench.problem('name/unknown');
  await bench.settled();
  await bench.screenshot('vscode-xml-diagnostic');
  await bench.hidePanel();
  await bench.replace('y = 0', 'x = 0');
  await until('it goes', async () => (await complaints()) === 0);
  // VS Code asks when the picture of an unsaved text is closed, although the text stays open.
  await bench.save();
}

async function verdict() {
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✗ violated/, 60);
  await bench.focusGroup();
  await bench.press('Control+Home');
  await until('the beginning is shown', () => bench.place('<?xml'));
  await bench.settled();
  await bench.screenshot('vscode-xml');
}

async function diagram() {
  await bench.focusGroup();
  await bench.command('Zonelens: Show the Diagram');
  const drawing = await bench.panel('svg g.node');
  const names = async () => (await drawing.locator('g.node').evaluateAll((all) => all.map((n) => n.getAttribute('data-name')))).join();
  await until('its templates', async () => (await names()) === 'off,dim,bright,idle', 30, names);
  await bench.configure({ 'workbench.colorTheme': 'Default Dark Modern' });
  await bench.page.locator('.monaco-workbench.vs-dark').waitFor();
  await bench.settled();
  await bench.screenshot('vscode-xml-dark');
  await bench.configure({ 'workbench.colorTheme': 'Default Light Modern' });
  await bench.page.locator('.monaco-workbench.vs').first().waitFor();
  const groups = bench.page.locator('.part.editor .editor-group-container');
  await bench.focusGroup();
  await bench.command('View: Close Editors in Other Groups', async () => (await groups.count()) === 1);
  await bench.focusGroup();
  await languageIs(MODEL);
}

async function rename() {
  await bench.lens(/✓ satisfied/, 30);
  const input = bench.page.locator('.rename-box input, input.rename-input').first();
  await act('the name is another', async () => {
    await bench.clickText('bright</name>', 0.2);
    await act('the field for the name opens', () => bench.press('F2'), () => input.isVisible());
    await input.fill('brilliant', { timeout: 5000 }).catch(() => undefined);
    await input.press('Enter', { timeout: 5000 }).catch(() => undefined);
  }, async () => (await bench.place('>brilliant</name>')) !== null, { again: 10 });
  await bench.save();
  const text = fs.readFileSync(path.join(bench.workspace, 'lamp.xml'), 'utf8');
  // The location, the two queries, and nothing else: references go by id, the comment is prose.
  assert.equal(text, LAMP.replace('>bright</name>', '>brilliant</name>').replaceAll('Lamp.bright', 'Lamp.brilliant'));
}

async function plain() {
  await bench.focusGroup();
  await bench.command('Zonelens: Treat This File as Plain XML');
  await languageIs('XML');
  await until('no buttons', async () => (await buttons()).length === 0);
  await until('no lens', async () => (await bench.lenses()).length === 0);
  await until('the other extension has its say', async () => (await complaints()) === 1);
  await reopen('lamp.xml');
  await until('it was looked at', async () => (await complaints()) === 1);
  await bench.page.waitForTimeout(1000);
  assert.equal(await bench.language(), 'XML', 'remembered');
  // Chosen by hand it is a model again, also the next time.
  await bench.chooseLanguage(MODEL);
  await bench.lens(/verify|satisfied/, 30);
  await until('the buttons are back', async () => (await buttons()).length === 2);
  await reopen('lamp.xml');
  await languageIs(MODEL);
  // And back by hand: the same as the command.
  await bench.chooseLanguage('XML');
  await bench.page.waitForTimeout(1000);
  assert.equal(await bench.language(), 'XML', 'set at most once per opening');
  await reopen('lamp.xml');
  await until('it was looked at', async () => (await complaints()) === 1);
  await bench.page.waitForTimeout(1000);
  assert.equal(await bench.language(), 'XML', 'remembered');
}

async function emptyFile() {
  await bench.open('empty.xml');
  await languageIs('XML');
  await bench.type('<?xml version="1.0"?>');
  await bench.page.waitForTimeout(500);
  assert.equal(await bench.language(), 'XML');
  await bench.type('<nta><declaration>int a;</declaration><system>system Nobody;</system></nta>');
  await languageIs(MODEL);
  await until('an error under Nobody', async () => (await complaints()) === 1);
  await bench.save();
}

async function settings() {
  await bench.configure({ 'zonelens.xml.detect': false, 'files.associations': { '*.uppaal': 'uppaal-xml' } });
  await bench.open('second.xml');
  await until('it was looked at', async () => (await complaints()) === 1);
  await bench.page.waitForTimeout(1000);
  assert.equal(await bench.language(), 'XML', 'nothing is detected');
  await bench.open('lamp.uppaal');
  await languageIs(MODEL);
  await bench.lens(/verify/, 30);
  await bench.open('second.xml');
  await bench.configure({ 'zonelens.xml.detect': true });
  await languageIs(MODEL);
  await bench.lens(/verify/, 30);
}

/** Nobody vouches for this workspace, and the settings want a run on every save. */
async function untrusted() {
  await bench.open('lamp.xml');
  await languageIs(MODEL);
  await bench.lens(/▶ verify$/, 60);
  // The workbench adds its status items one by one.
  await until('the workspace is not trusted', async () => {
    const items = await bench.page.locator('.statusbar-item').allTextContents();
    return items.join().includes('Restricted Mode');
  });
  await bench.replace('x = 0', 'x  = 0');
  await bench.save();
  await bench.page.waitForTimeout(3000);
  const lenses = await bench.lenses();
  assert.ok(lenses.filter((l) => /▶ verify$/.test(l)).length === 2, `nothing runs unasked: ${lenses.join(' | ')}`);
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
}

/** The same workspace, trusted: what was not done above is done here. */
async function trusted() {
  await bench.open('lamp.xml');
  await languageIs(MODEL);
  await bench.lens(/▶ verify$/, 60);
  await bench.replace('x = 0', 'x  = 0');
  await bench.save();
  await bench.lens(/✓ satisfied/, 60);
}

async function session(files, options, chapters) {
  bench = await start(codeServer, path.resolve(vsix), files, path.resolve(screenshots), options);
  for (const [name, tell] of chapters) {
    await chapter(name, tell);
  }
  await bench.stop();
  bench = undefined;
}

const onSave = { files: { 'lamp.xml': LAMP }, settings: { 'zonelens.verifyOnSave': true } };
try {
  await session({ 'pom.xml': POM, 'lamp.xml': LAMP, 'second.xml': LAMP, 'lamp.uppaal': LAMP, 'empty.xml': '' }, { extensions: { 'xml-checker': CHECKER } }, [
    ['other XML starts nothing', otherXml],
    ['the first model is recognised: server, lens, buttons', firstModel],
    ['a diagnostic in XML, told once', diagnostic],
    ['verdicts in XML', verdict],
    ['the diagram of an XML model, in a dark theme', diagram],
    ['a location is renamed, its references need no edit', rename],
    ['plain XML if the user says so', plain],
    ['an empty file becomes a model', emptyFile],
    ['detection off, associations', settings],
  ]);
  await session(onSave.files, { trusted: false, settings: onSave.settings }, [['untrusted: nothing runs unasked', untrusted]]);
  await session(onSave.files, { settings: onSave.settings }, [['trusted: queries run on save', trusted]]);
  console.log(`vscode: XML first, told in ${((Date.now() - begin) / 1000).toFixed(0)} s; screenshots in ${path.resolve(screenshots)}`);
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'vscode-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
