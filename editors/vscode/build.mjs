// Bundles the extension and the scripts of its panels into dist/, with the models to begin with.
import * as fs from 'node:fs';
import { build } from 'esbuild';

const production = process.argv.includes('--production');
const common = { bundle: true, minify: production, sourcemap: false, logLevel: 'warning', legalComments: 'none' };

fs.mkdirSync('dist/models', { recursive: true });
for (const file of ['models/empty.xta', 'models/empty.xml', '../../examples/fischer.xta', '../../examples/train-gate.xta']) {
  fs.copyFileSync(file, `dist/models/${file.split('/').pop()}`);
}

await Promise.all([
  build({
    ...common,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
  }),
  build({
    ...common,
    entryPoints: ['src/webview/trace.ts', 'src/webview/diagram.ts', 'src/webview/simulator.ts'],
    outdir: 'dist',
    platform: 'browser',
    format: 'iife',
    target: 'chrome120',
  }),
]);
