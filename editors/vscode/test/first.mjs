// First contact in the real workbench: a new model without a file, the page of a rule, the walkthrough.
// Usage: node test/first.mjs CODE_SERVER VSIX [SCREENSHOTS]
import assert from 'node:assert/strict';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, chapter, start, until } from './workbench.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const [codeServer, vsix, screenshots = path.join(root, 'target/screenshots')] = process.argv.slice(2);

let bench;

/** A command that asks for a choice in the same field. */
async function commandAndChoice(title, choice, effect) {
  await act(`${title}: ${choice}`, async () => {
    await bench.command(title, async () => (await bench.asks()) && (await bench.page.locator('.quick-input-widget input').first().inputValue()) === '');
    await bench.choose(choice, (label) => label.startsWith(choice));
  }, effect, { again: 15 });
}

async function newModels() {
  for (const [choice, text] of [['Train gate', '// Trains share a bridge'], ['Fischer', 'mutual exclusion protocol'], ['Empty', '//@ query E<> P.end']]) {
    await commandAndChoice('Zonelens: New Model…', choice, async () => (await bench.place(text)) !== null);
  }
  assert.equal(await bench.language(), 'Timed automata (XTA)');
  assert.match(await bench.page.locator('.tab.active').getAttribute('data-resource-name'), /^Untitled-/);
  await bench.clickLens(/▶ verify$/);
  await bench.lens(/✓ satisfied/, 60);
}

async function page() {
  await bench.replace('x >= 1', 'z >= 1');
  await until('the diagnostic', async () => (await bench.rectangles('.squiggly-error')).length === 1);
  await bench.clickText('z >= 1', 0.1);
  const preview = await bench.openPanel('h1:has-text("name/unknown")', () => bench.command('Zonelens: Explain'));
  assert.match(await preview.locator('body').innerText(), /name\/unknown/);
}

async function walkthrough() {
  const steps = bench.page.locator('.getting-started-step');
  await commandAndChoice('Welcome: Open Walkthrough...', 'First steps with Zonelens', async () => (await steps.count()) === 5);
  assert.match((await steps.allTextContents()).join(), /Begin with a model.*Errors as you type.*See and simulate it.*Verify it.*Walk through the trace/s);
}

try {
  bench = await start(codeServer, path.resolve(vsix), { 'readme.txt': 'No model yet.\n' }, path.resolve(screenshots));
  await chapter('three new models, without a file', newModels);
  await chapter('the page of a rule', page);
  await chapter('the walkthrough', walkthrough);
} catch (error) {
  console.error(error);
  await bench?.page?.screenshot({ path: path.join(screenshots, 'first-failure.png') }).catch(() => undefined);
  process.exitCode = 1;
} finally {
  await bench?.stop();
}
