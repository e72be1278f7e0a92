import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * Searches with several seeds, and prints the hits of each acquisition after some labels, with standard errors. Searches that were interrupted go on.
 * `node examples/04_hts_hit_finding/compare.ts <folder> [--seeds 3] [--at 600,1100] [-- options of tutti discover]`
 */

const tutti = resolve(import.meta.dirname, '../../src-main/tutti.mjs');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string', default: '3' }, at: { type: 'string', default: '600,1100,2100' } },
});
const [folder, ...given] = positionals;
if (folder === undefined) throw new Error('Name a folder for the searches.');

/** A line of `rounds.jsonl` (docs/formats.md). */
interface Line {
  type: 'start' | 'choice' | 'labels';
  arm: string;
  indices: number[];
  values: number[];
}

const usual = ['--stratified', '--class-weights', '--start', '100', '--beside', 'greedy,ei,random'];
const marks = values.at.split(',').map(Number);
const found = new Map<string, number[][]>();
for (let seed = 1; seed <= Number(values.seeds); seed++) {
  const own = join(folder, `seed-${seed}`);
  await search(own, ['--seed', String(seed), ...usual, ...given]);
  for (const [arm, hits] of await hitsIn(own)) found.set(arm, [...(found.get(arm) ?? []), hits]);
}
report();

async function search(own: string, options: readonly string[]): Promise<void> {
  const isBegun = existsSync(join(own, 'discovery.json'));
  const args = isBegun ? ['--resume', own] : [import.meta.dirname, '--out', own, ...options];
  const child = spawn(process.execPath, [tutti, 'discover', ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The search in ${own} ended with exit code ${code}.`);
}

/** The hits of each arm after each of its labels. */
async function hitsIn(own: string): Promise<Map<string, number[]>> {
  const lines = (await readFile(join(own, 'rounds.jsonl'), 'utf8')).trimEnd().split('\n');
  const labels = new Map<number, number>();
  const chosen = new Map<string, number[]>();
  let start: number[] = [];
  for (const { type, arm, indices, values: found } of lines.map((line) => JSON.parse(line) as Line)) {
    if (type === 'start') start = indices;
    else if (type === 'labels') indices.forEach((index, i) => labels.set(index, found[i]));
    else chosen.set(arm, [...(chosen.get(arm) ?? start), ...indices]);
  }
  return new Map(
    [...chosen].map(([arm, indices]) => {
      let hits = 0;
      return [arm, indices.map((index) => (hits += labels.get(index) ?? 0))];
    }),
  );
}

function report(): void {
  console.log(
    `\n| acquisition | ${marks.map((mark) => `${mark} labels`).join(' | ')} |\n| --- |${' --- |'.repeat(marks.length)}`,
  );
  for (const [arm, hits] of found) {
    const cells = marks.map((mark) => describe(hits.map((own) => own[mark - 1])));
    console.log(`| ${arm} | ${cells.join(' | ')} |`);
  }
}

/** Mean and standard error; a dash where a search has fewer labels. */
function describe(hits: readonly (number | undefined)[]): string {
  const known = hits.filter((own) => own !== undefined);
  if (known.length < hits.length) return '-';
  const mean = known.reduce((sum, own) => sum + own, 0) / known.length;
  const squares = known.reduce((sum, own) => sum + (own - mean) ** 2, 0);
  const error = known.length < 2 ? '' : ` ± ${Math.sqrt(squares / (known.length - 1) / known.length).toFixed(1)}`;
  return `${mean.toFixed(1)}${error}`;
}
