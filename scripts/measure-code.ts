/**
 * Prints how much there is to hold in a head, one row for each layer: files, lines, files below 40 lines, files that
 * only one other file imports, depth of folders, and comments that are too wide. Below it, the longest chain of imports
 * from where each program begins. CONTRIBUTING.md shows the figures. `npm run sizes:code -- [root] [--chains]` also
 * names the files of each chain.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type SourceFile, readSources, resolveImport } from './imports.ts';

const layers = ['core', 'src-main', 'src-renderer', 'workers'];
/** Where the hub, a worker and the pages begin. */
const beginnings = ['src-main/begin.ts', 'workers/entries/worker.ts', 'src-renderer/main.ts'];
const widest = 120;

const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const root = names[0] ?? '.';
const files = layers.flatMap((layer) => readSources(root, layer));
const targets = new Map(files.map((source) => [source.file, targetsOf(source)]));
const importers = Map.groupBy(
  [...targets].flatMap(([from, all]) => all.map((to) => ({ from, to }))),
  ({ to }) => to,
);

const columns = ['files', 'lines', 'below 40 lines', 'one importer', 'deepest', `comments over ${widest}`];
console.log(`| layer | ${columns.join(' | ')} |\n| --- |${' --: |'.repeat(columns.length)}`);
for (const layer of layers) console.log(rowOf(`\`${layer}/\``, (file) => file.startsWith(`${layer}/`)));
console.log(rowOf('all', () => true));

const chains = new Map<string, string[]>();
for (const beginning of beginnings) {
  const chain = longestChain(beginning);
  console.log(`\n${beginning}: the longest chain of imports has ${chain.length} files.`);
  if (process.argv.includes('--chains')) console.log(chain.join('\n'));
}

/** The files of the layers that a file imports, each once. */
function targetsOf({ file, imports }: SourceFile): string[] {
  const resolved = imports.map(({ specifier }) => resolveImport(file, specifier) ?? '');
  return [...new Set(resolved)].filter((target) => layers.includes(target.split('/')[0] ?? ''));
}

function rowOf(name: string, belongs: (file: string) => boolean): string {
  const inside = files.map(({ file }) => file).filter(belongs);
  const texts = inside.map((file) => readFileSync(path.join(root, file), 'utf8').split('\n'));
  const small = texts.filter((lines) => lines.length - 1 < 40).length;
  const single = inside.filter((file) => importers.get(file)?.length === 1).length;
  const figures = [
    inside.length,
    texts.reduce((sum, lines) => sum + lines.length - 1, 0),
    small,
    `${single} (${Math.round((100 * single) / inside.length)} %)`,
    Math.max(...inside.map((file) => file.split('/').length - 1)),
    texts.flat().filter((line) => line.length > widest && /^\s*(?:\/\/|\/?\*)/.test(line)).length,
  ];
  return `| ${name} | ${figures.join(' | ')} |`;
}

/** Imports close no circles (`npm run layers`), so that each file's chain is found once. */
function longestChain(file: string): string[] {
  const known = chains.get(file);
  if (known !== undefined) return known;
  const below = (targets.get(file) ?? []).map(longestChain);
  const longest = below.reduce<string[]>((best, chain) => (chain.length > best.length ? chain : best), []);
  const chain = [file, ...longest];
  chains.set(file, chain);
  return chain;
}
