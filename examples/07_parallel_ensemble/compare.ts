import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type TrainedRun, trainRun } from '../trained-run.ts';
import { MemoryWatch } from './memory.ts';

/**
 * Trains the same members one after the other and in parallel, with copied, broadcast and shared data, and prints time
 * and memory.
 * `node examples/07_parallel_ensemble/compare.ts <new folder> [--members 4] [--files t10k] [--repeats 3] [-- options of tutti train]`
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    members: { type: 'string', default: '4' },
    files: { type: 'string', default: 't10k' },
    repeats: { type: 'string', default: '3' },
  },
});
const [folder, ...given] = positionals;
if (folder === undefined) throw new Error('Name a new folder for the runs.');

const ways: { name: string; options: string[] }[] = [
  { name: 'sequential', options: ['--devices', 'cpu:0', '--placement', 'waves'] },
  { name: 'parallel', options: [] },
  { name: 'broadcasting', options: ['--data.mode', 'broadcast'] },
  { name: 'shared', options: ['--data.mode', 'shared'] },
];

interface Measured {
  name: string;
  runs: TrainedRun[];
  peakBytes: number[];
}

const measured: Measured[] = ways.map(({ name }) => ({ name, runs: [], peakBytes: [] }));
// In turns, so that the machine's other load affects all of them.
for (let repeat = 1; repeat <= Number(values.repeats); repeat++) {
  for (const [i, { name, options }] of ways.entries()) {
    const watch = new MemoryWatch();
    measured[i].runs.push(await train(`${name}-${repeat}`, options));
    measured[i].peakBytes.push(watch.stop());
  }
}
report();

/** All members see the same batches, which broadcasting requires, so that all four ways train the same ensemble. */
function train(name: string, options: readonly string[]): Promise<TrainedRun> {
  const common = ['--members', values.members, '--sampler', 'shared', '--set', `files=${values.files}`];
  return trainRun(import.meta.dirname, join(folder, name), [...common, ...options, ...given]);
}

function report(): void {
  console.log(
    '\n| trained | time, command to end | memory at its peak | test NLL | test accuracy |\n| --- | --- | --- | --- | --- |',
  );
  for (const { name, runs, peakBytes } of measured) {
    const seconds = median(runs.map((run) => run.seconds)).toFixed(1);
    const megabytes = (median(peakBytes) / 1e6).toFixed(0);
    const { nll, acc } = runs[0].test.ensemble;
    console.log(`| ${name} | ${seconds} s | ${megabytes} MB | ${nll.toFixed(4)} | ${acc.toFixed(4)} |`);
  }
}

function median(numbers: readonly number[]): number {
  const sorted = Float64Array.from(numbers).sort();
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}
