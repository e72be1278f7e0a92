/**
 * Prints the size of each packaged app (`npm run package`) and of its parts, and fails if one is above the bound.
 * `npm run sizes -- [root]`
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { measureApp, mostAppBytes, totalBytes } from './package/app-parts.ts';

const root = process.argv[2] ?? '.';
const packaged = ['linux-unpacked', 'linux-arm64-unpacked', 'win-unpacked'].map((name) =>
  path.join(root, 'dist', name),
);
const built = packaged.filter((folder) => existsSync(folder));
if (built.length === 0)
  console.log(`No packaged app lies in ${path.join(root, 'dist')}. Make one with: npm run package`);
for (const folder of built) printApp(folder, await measureApp(folder));

function printApp(folder: string, bytes: ReadonlyMap<string, number>): void {
  const total = totalBytes(bytes);
  const rows = [...bytes, [`all, at most ${mostAppBytes / 1e6}`, total] as const];
  console.log(`\n| ${folder} | MB |\n| --- | --: |`);
  for (const [name, size] of rows) console.log(`| ${name} | ${(size / 1e6).toFixed(1)} |`);
  if (total > mostAppBytes) process.exitCode = 1;
}
