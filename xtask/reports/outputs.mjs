// Validates the JSON that the commands write against docs/schema: all examples, models with errors, lassos, bounds, long
// traces, walks. Each field of a schema must occur in some output, so that none outlives what it describes.
import Ajv from 'ajv';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = path.resolve(here, '../../docs/schema');
const examples = path.resolve(here, '../../examples');

const counter = `
int[0, 40000] n;
process P() { state s; init s; trans s -> s { guard n < 40000; assign n = n + 1; }; }
system P;
//@ query E<> n == 12000
`;
const bounds = `
clock x;
int[0, 3] n;
process P() { state a { x < 5 }, b; init a; trans a -> b { guard x > 2; assign n = 3; }, b -> b { }; }
system P;
//@ query sup: x, n
//@ query inf{P.b && n > 3}: x
//@ query bounds{P.b}: x
//@ query E[] not P.b
//@ query A<> P.b
//@ expect violated
//@ query P.a --> P.b && n == 0
//@ query A<> (P.b imply n == 3)
//@ query E<> deadlock
//@ query E<> nobody
//@ query A[] 1 / n > 0
//@ query Pr[<=1] (<> P.b)
`;
const excluded = `
typedef scalar[2] pid;
int a[pid];
pid last;
void f() { int c = 0; for (p : pid) { a[p] = c; c = c + 1; } }
process P(const pid i) { state s; init s; trans s -> s { assign last = i, f(); }; }
system P;
//@ query A[] forall (i : pid) a[i] < 2
`;
const models = {
  'counter.xta': counter,
  'bounds.xta': bounds,
  'excluded.xta': excluded,
  'never.xta': 'int[0,1] n; process P() { state a, b, c; init a; trans a -> b { guard n > 0; }, b -> c { }; } system P;\n//@ query A[] n == 0\n//@ query E<> P.a\n',
  'broken.xta': 'process P( { é <&> "',
  'wrong.xta': `int n = true + ; clock c; process P() { state a; init a; trans a -> b { gaurd n; }; } sytem P;`,
  'empty.xta': '',
  'stopped.xta': 'clock x; process P() { state a { x <= 3 }; init a; } system P;',
  'failing.xta': 'int[0,1] n; process P() { state a; init a; trans a -> a { assign n = n + 1; }; } system P;\n//@ query A[] n < 2\n',
};

/** Properties of a schema by path, those of maps and alternatives included. */
function properties(schema, root, all, at, out) {
  if (schema.$ref) {
    const [file, pointer] = schema.$ref.split('#');
    const next = file === '' ? root : all[file];
    const target = pointer.split('/').filter(Boolean).reduce((s, key) => s[key], next);
    properties(target, next, all, at, out);
  }
  (schema.anyOf ?? []).forEach((s) => properties(s, root, all, at, out));
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    out.add(`${at}.${name}`);
    properties(value, root, all, `${at}.${name}`, out);
  }
  if (typeof schema.additionalProperties === 'object') {
    out.add(`${at}.*`);
    properties(schema.additionalProperties, root, all, `${at}.*`, out);
  }
  if (schema.items) {
    properties(schema.items, root, all, `${at}[]`, out);
  }
}

/** Removes from `unseen` what a value has; null has nothing. */
function see(value, at, unseen) {
  if (Array.isArray(value)) {
    value.forEach((v) => see(v, `${at}[]`, unseen));
  } else if (value !== null && typeof value === 'object') {
    for (const [name, v] of Object.entries(value)) {
      for (const next of [`${at}.${name}`, `${at}.*`]) {
        unseen.delete(next);
        see(v, next, unseen);
      }
    }
  }
}

export function outputs(zonelens, work, tell) {
  for (const [name, text] of Object.entries(models)) {
    fs.writeFileSync(path.join(work, name), text);
  }
  const all = {};
  const ajv = new Ajv({ allErrors: true });
  for (const name of fs.readdirSync(folder).filter((n) => n.endsWith('.schema.json'))) {
    all[name] = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    ajv.addSchema(all[name]);
  }
  const unseen = {};
  function validate(kind, ...args) {
    const file = `${kind}.schema.json`;
    if (!(kind in unseen)) {
      unseen[kind] = new Set();
      properties(all[file], all[file], all, '', unseen[kind]);
    }
    const ran = spawnSync(zonelens, [kind, '--format', 'json', ...args], { cwd: work, encoding: 'utf8', maxBuffer: 1 << 30 });
    const lines = ran.stdout.split('\n').filter((line) => line !== '');
    const check = ajv.getSchema(file);
    const errors = new Set(ran.error ? [String(ran.error)] : []);
    for (const line of lines) {
      const value = JSON.parse(line);
      see(value, '', unseen[kind]);
      if (!check(value)) {
        check.errors.forEach((e) => errors.add(`${e.dataPath} ${e.message} ${JSON.stringify(e.params)}`));
      }
    }
    tell(`JSON of ${kind} ${args.map((a) => path.basename(a)).join(' ')}: ${lines.length} objects`, [...errors].slice(0, 20));
    return lines.length;
  }
  const own = Object.keys(models);
  const shown = fs.readdirSync(examples).filter((n) => n.endsWith('.xta')).map((n) => path.join(examples, n));
  let objects = 0;
  objects += validate('check', ...own, examples);
  objects += validate('verify', '--states', '20000', '--timeout', '20', ...shown);
  objects += validate('verify', '--states', '20000', ...own.filter((n) => n !== 'counter.xta'));
  objects += validate('verify', 'counter.xta');
  objects += validate('verify', 'bounds.xta', '-q', 'E<> P.b', '--trace', 'fastest');
  objects += validate('verify', '--audit-symmetry', '--const', 'N=2', path.join(examples, 'fischer.xta'));
  objects += validate('verify', '--timeout', '0.01', '--const', 'N=30', '--symmetry', 'off', path.join(examples, 'fischer.xta'));
  objects += validate('coverage', 'bounds.xta');
  objects += validate('coverage', 'never.xta');
  objects += validate('verify', '--certify', 'never.xta');
  objects += validate('coverage', '--timeout', '0.01', 'counter.xta');
  objects += validate('coverage', 'failing.xta');
  for (const name of ['bounds.xta', 'counter.xta', 'stopped.xta', 'failing.xta']) {
    objects += validate('simulate', '--steps', '20', name);
  }
  shown.forEach((name) => (objects += validate('simulate', '--steps', '30', '--seed', '7', name)));
  tell(`objects: ${objects}`, objects < 80 ? ['fewer than there should be'] : []);
  for (const [kind, fields] of Object.entries(unseen)) {
    tell(`every field of ${kind}.schema.json occurs`, [...fields]);
  }
}
