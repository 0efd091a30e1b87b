// The grammars colour the language: annotated real text by vscode-tmgrammar-test, and every keyword of the lexer.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const here = path.dirname(fileURLToPath(import.meta.url));
const extension = path.resolve(here, '..');

annotated();
await everyKeyword();

/** Text with `^^^ scope` lines under it. */
function annotated() {
  const tool = require.resolve('vscode-tmgrammar-test/dist/unit.js');
  for (const file of ['fischer.xta', 'queries.q', 'model.xml']) {
    const ran = spawnSync(process.execPath, [tool, path.join(here, 'grammar', file)], { cwd: extension, encoding: 'utf8' });
    if (ran.status !== 0) {
      console.error(ran.stdout + ran.stderr);
      process.exit(1);
    }
    console.log(`ok   ${file}`);
  }
}

/** The words of syntax/src/token.rs; each must be coloured as a keyword, a type or a constant. */
async function everyKeyword() {
  const source = fs.readFileSync(path.resolve(extension, '../../syntax/src/token.rs'), 'utf8');
  const words = [...source.matchAll(/#\[token\("([a-z_]+)"\)\]/g)].map((m) => m[1]);
  assert.ok(words.length > 50, `the lexer has its keywords where they are looked for (${words.length})`);
  const grammar = await load('source.xta');
  const isColoured = (scopes) => scopes.some((s) => /^(keyword|storage|constant\.language)/.test(s));
  for (const word of words) {
    const [line] = [grammar.tokenizeLine(`${word} `, null)];
    const token = line.tokens.find((t) => t.startIndex === 0);
    assert.ok(token.endIndex === word.length && isColoured(token.scopes), `${word} is a keyword of the lexer, but coloured as ${token.scopes}`);
    // And only the word itself: a name that begins with it is a name.
    const longer = grammar.tokenizeLine(`${word}_x `, null).tokens[0];
    assert.ok(!isColoured(longer.scopes), `${word}_x is a name, but coloured as ${longer.scopes}`);
  }
  const queries = await load('source.uppaal-q');
  for (const word of ['A[]', 'E<>', 'A<>', 'E[]', '-->', 'deadlock', 'forall', 'exists', 'imply', 'and', 'or', 'not', 'true', 'false']) {
    const token = queries.tokenizeLine(`${word} x`, null).tokens[0];
    assert.ok(isColoured(token.scopes), `${word} in a query is coloured as ${token.scopes}`);
  }
  console.log(`ok   ${words.length} keywords`);
}

async function load(scope) {
  const tm = require('vscode-textmate');
  const oniguruma = require('vscode-oniguruma');
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength)).catch(() => undefined);
  const manifest = JSON.parse(fs.readFileSync(path.join(extension, 'package.json'), 'utf8'));
  const registry = new tm.Registry({
    onigLib: Promise.resolve({ createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) }),
    loadGrammar: async (name) => {
      const found = manifest.contributes.grammars.find((g) => g.scopeName === name);
      return found ? tm.parseRawGrammar(fs.readFileSync(path.join(extension, found.path), 'utf8'), found.path) : null;
    },
  });
  return await registry.loadGrammar(scope);
}
