import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { build } from 'vite';
import { buildIfStale } from '../../src-main/built/build.ts';
import { bundlePrograms } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';
import { packageManifest, type RepositoryManifest } from './manifest.ts';

/** `npm run build:package`: makes the package that npm publishes in `out/package`, and packs it into `out`. */

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'out', 'package');

/**
 * The examples whole, but for their pictures: what a project imports or reads beside it is there. Node strips no types
 * in `node_modules`.
 */
function compileExamples(): void {
  const isLeftOut = (file: string): boolean => /[\\/]outputs([\\/]|$)/.test(file);
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true, filter: (file) => !isLeftOut(file) });
  for (const file of globSync('examples/**/*.ts', { cwd: folder })) {
    const source = join(folder, file);
    const code = stripTypeScriptTypes(readFileSync(source, 'utf8'));
    writeFileSync(
      source.replace(/\.ts$/, '.js'),
      code.replaceAll(/('\.{1,2}\/[^'\n]*)\.ts'/g, "$1.js'").replaceAll(/[ \t]+$/gm, ''),
    );
    rmSync(source);
  }
}

/** The pages without those for developers (`src-renderer/router.ts`). */
async function buildPages(): Promise<void> {
  const configFile = join(root, 'renderer.vite.config.ts');
  await build({ configFile, mode: 'package', logLevel: 'warn', build: { outDir: join(folder, 'out', 'renderer') } });
}

function copyFiles(): void {
  cpSync(join(root, 'out', 'report'), join(folder, 'out', 'report'), { recursive: true });
  cpSync(join(root, 'out', 'renderer', 'build.json'), join(folder, 'out', 'renderer', 'build.json'));
  for (const file of globSync('workers/kernels/*.wasm', { cwd: root })) cpSync(join(root, file), join(folder, file));
  // Messages name these pages.
  for (const page of globSync('docs/**/*.md', { cwd: root })) cpSync(join(root, page), join(folder, page));
  cpSync(join(root, 'templates'), join(folder, 'templates'), { recursive: true });
  cpSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'docs', 'licences.md'), join(folder, 'THIRD-PARTY-LICENCES.md'));
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(join(folder, 'src-main'), { recursive: true });
await buildIfStale();
await buildPages();
writeDeclarations(root, folder);
await bundlePrograms(root, folder);
compileExamples();
copyFiles();
const manifest = packageManifest(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as RepositoryManifest);
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
execFileSync('npm', ['pack', '--pack-destination', '..'], { cwd: folder, stdio: 'inherit' });
