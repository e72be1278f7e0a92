import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { saveFigure } from 'tutti-ensembles';
import { hitsFigure } from './figures.ts';
import { hitsIn, tableOfHits } from './hits.ts';

/**
 * Searches with several seeds, prints the hits of each acquisition after some labels with standard errors, and draws
 * them. Searches that were interrupted go on.
 * `node examples/04_hts_hit_finding/compare.ts <folder> [--seeds 5] [--at 600,1100,2100] [--parallel 2] [-- options of tutti discover]`
 */

const tutti = resolve(import.meta.dirname, '../../src-main/tutti.mjs');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '5' },
    at: { type: 'string', default: '600,1100,2100' },
    /** Searches at the same time. */
    parallel: { type: 'string', default: '1' },
    name: { type: 'string', default: 'HIV screen' },
  },
});
const [folder, ...given] = positionals;
if (folder === undefined) throw new Error('Name a folder for the searches.');

const usual = ['--stratified', '--class-weights', '--start', '100', '--beside', 'greedy,ei,random'];
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
const searches = seeds.map((seed) => join(folder, `seed-${seed}`));
const waiting = seeds.values();
await Promise.all(Array.from({ length: Number(values.parallel) }, work));
const found = new Map<string, number[][]>();
for (const own of searches) {
  for (const [arm, hits] of await hitsIn(own)) found.set(arm, [...(found.get(arm) ?? []), hits]);
}
console.log(`\n${tableOfHits(found, values.at.split(',').map(Number))}`);
await saveFigure(folder, 'hits', hitsFigure(values.name, found));

async function work(): Promise<void> {
  for (const seed of waiting) await search(searches[seed - 1], ['--seed', String(seed), ...usual, ...given]);
}

async function search(own: string, options: readonly string[]): Promise<void> {
  const isBegun = existsSync(join(own, 'discovery.json'));
  const args = isBegun ? ['--resume', own] : [import.meta.dirname, '--out', own, ...options];
  const child = spawn(process.execPath, [tutti, 'discover', ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The search in ${own} ended with exit code ${code}.`);
}
