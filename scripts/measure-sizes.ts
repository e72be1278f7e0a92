/**
 * Prints a table of the sizes of the code's files, folders and functions, one row for each top folder. CONTRIBUTING.md shows it. After `npm run package`, also the size
 * of the packaged app and its parts, and fails if it is above the bound.
 * `npm run sizes -- [root]`
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { scriptOf } from './imports.ts';
import { measureApp, mostAppBytes, totalBytes } from './package/app-parts.ts';

const topFolders = ['protocol', 'core', 'src-main', 'src-renderer', 'workers'];
const root = process.argv[2] ?? '.';
const listed = execFileSync('git', ['ls-files', ...topFolders], { cwd: root, encoding: 'utf8' });
const files = listed.split('\n').filter((file) => /\.(?:ts|mjs|vue)$/.test(file));

const columns = [
  'files',
  'largest folder',
  'files under 40 lines',
  'longest file',
  'functions over 40 lines',
  'longest function',
];
console.log(`| folder | ${columns.join(' | ')} |\n| --- |${' --: |'.repeat(columns.length)}`);
for (const folder of topFolders) {
  const inside = files.filter((file) => file.startsWith(`${folder}/`));
  if (inside.length > 0) console.log(`| \`${folder}/\` | ${measure(inside).join(' | ')} |`);
}

const packaged = ['linux-unpacked', 'linux-arm64-unpacked', 'win-unpacked'].map((name) =>
  path.join(root, 'dist', name),
);
for (const folder of packaged.filter((name) => existsSync(name))) printApp(folder, await measureApp(folder));

function printApp(folder: string, bytes: ReadonlyMap<string, number>): void {
  const total = totalBytes(bytes);
  const rows = [...bytes, [`all, at most ${mostAppBytes / 1e6}`, total] as const];
  console.log(`\n| ${folder} | MB |\n| --- | --: |`);
  for (const [name, size] of rows) console.log(`| ${name} | ${(size / 1e6).toFixed(1)} |`);
  if (total > mostAppBytes) process.exitCode = 1;
}

function measure(inside: readonly string[]): (number | string)[] {
  const texts = inside.map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }));
  const lengths = texts.map(({ text }) => text.split('\n').length - 1);
  const functions = texts.flatMap(({ file, text }) => functionLengths(file, text));
  const folders = Map.groupBy(inside, (file) => path.posix.dirname(file));
  const small = lengths.filter((length) => length < 40).length;
  return [
    inside.length,
    Math.max(...[...folders.values()].map((group) => group.length)),
    `${small} (${Math.round((100 * small) / inside.length)} %)`,
    Math.max(...lengths),
    functions.filter((length) => length > 40).length,
    Math.max(...functions),
  ];
}

/** Lines of each function and method, without those of classes around them. */
function functionLengths(file: string, text: string): number[] {
  const source = ts.createSourceFile(`${file}.ts`, scriptOf(file, text), ts.ScriptTarget.Latest, true);
  const lengths: number[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      lengths.push(source.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lengths;
}
