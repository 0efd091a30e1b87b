// Which XML is a model: small texts, and every XML file of the corpus where there is one.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { build } from 'esbuild';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'zonelens-head-'));
const module = path.join(folder, 'head.mjs');
await build({ entryPoints: [path.join(here, '../src/modelHead.ts')], outfile: module, format: 'esm', logLevel: 'warning' });
const { HEAD, readHead } = await import(pathToFileURL(module).href);
fs.rmSync(folder, { recursive: true });

const DOCTYPE = "<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' 'flat-1_1.dtd'>";
const cases = {
  model: [
    '<nta>',
    '<nta/>',
    '<nta xmlns="urn:x">',
    DOCTYPE,
    `<?xml version="1.0" encoding="utf-8"?>${DOCTYPE}<nta/>`,
    `\uFEFF<?xml version="1.0"?>\r\n\r\n<!-- by hand\n --><!-- <pom> -->\n${DOCTYPE}`,
    '<?xml version="1.0"?>\n<!DOCTYPE\n  nta\n  SYSTEM "flat.dtd">',
    `<?xml version="1.0"?><?xml-stylesheet href="a.css"?><nta>`,
    `${' '.repeat(HEAD - 5)}<nta>${' '.repeat(HEAD)}`,
  ],
  other: [
    '<?xml version="1.0"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0">',
    '<ntab>',
    '<nta-list/>',
    '<!DOCTYPE ntab>',
    '<!DOCTYPE html>',
    '<!-- <nta> --><html>',
    'nta',
    '<svg><nta/></svg>',
    `${' '.repeat(HEAD)}<nta>`,
    `<!--${'x'.repeat(HEAD)}--><nta>`,
  ],
  undecided: ['', '\n  \n', '<', '<n', '<nta', '<?xml version', '<?xml version="1.0"?>\n', '<!', '<!-', '<!-- who', '<!-- who -->', '<!DOCTYPE', '<!DOCTYPE ', '<!DOCTYPE  nt', '<!DOCTYPE nta'],
};
for (const [head, texts] of Object.entries(cases)) {
  for (const text of texts) {
    assert.equal(readHead(text), head, JSON.stringify(text.slice(0, 80)));
  }
}
// Typed key by key, or at once, the end is the same, and no step calls a model something else.
for (const text of cases.model) {
  const steps = Array.from({ length: Math.min(text.length, HEAD) }, (_, i) => readHead(text.slice(0, i)));
  assert.ok(!steps.includes('other'), JSON.stringify(text.slice(0, 80)));
}
console.log(`ok   ${Object.values(cases).flat().length} beginnings of XML`);

const corpus = process.env.ZONELENS_CORPUS;
if (corpus === undefined || !fs.existsSync(path.join(corpus, 'models'))) {
  console.log('skip the corpus: ZONELENS_CORPUS names none');
} else {
  const files = fs.readdirSync(path.join(corpus, 'models'), { recursive: true }).filter((name) => name.endsWith('.xml'));
  const missed = files.filter((name) => {
    const text = fs.readFileSync(path.join(corpus, 'models', name), 'utf8');
    return /<nta[\s>]/.test(text) && readHead(text) !== 'model';
  });
  assert.deepEqual(missed, []);
  console.log(`ok   ${files.length} XML files of the corpus`);
}
