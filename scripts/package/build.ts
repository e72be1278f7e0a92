import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { buildIfStale } from '../../src-main/built/build.ts';
import { bundlePrograms } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';
import { packageManifest, type RepositoryManifest } from './manifest.ts';

/** `npm run build:package`: makes the package that npm publishes in `out/package`, and packs it into `out`. */

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'out', 'package');

/** A folder with projects as JavaScript: Node strips no types from files in `node_modules`. */
function compileExamples(): void {
  const files = globSync('examples/*/{project,network,networks,figures}.ts', { cwd: root });
  for (const file of files) {
    const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'));
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(
      join(folder, file.replace(/\.ts$/, '.js')),
      code.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'").replaceAll(/[ \t]+$/gm, ''),
    );
  }
}

function copyFiles(): void {
  for (const pages of ['renderer', 'report']) {
    cpSync(join(root, 'out', pages), join(folder, 'out', pages), { recursive: true });
  }
  for (const file of globSync('workers/kernels/*.wasm', { cwd: root })) cpSync(join(root, file), join(folder, file));
  cpSync(join(root, 'templates'), join(folder, 'templates'), { recursive: true });
  cpSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'docs', 'licences.md'), join(folder, 'THIRD-PARTY-LICENCES.md'));
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'src-main'), { recursive: true });
await buildIfStale();
writeDeclarations(root, folder);
await bundlePrograms(root, folder);
compileExamples();
copyFiles();
const manifest = packageManifest(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as RepositoryManifest);
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
execFileSync('npm', ['pack', '--pack-destination', '..'], { cwd: folder, stdio: 'inherit' });
