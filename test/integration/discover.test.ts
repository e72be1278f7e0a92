import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { SearchLine } from '../../core/discovery/search.ts';
import { discoverLineSchema } from '../../core/protocol/pages/json-outputs.ts';
import { labelsSchema } from '../../core/protocol/run/pool-task.ts';
import { readLines, searchPaths } from '../../src-main/discovery/search-folder.ts';
import { readRunRecord } from '../../src-main/store/runs/run-folder.ts';
import { projectFolder, useHub } from './harness.ts';

const { home } = useHub();
const tutti = fileURLToPath(new URL('../../src-main/cli.ts', import.meta.url));
const options =
  '--json --hit-class 1 --beside random --warm --class-weights --start 12 --stratified --per-round 4 ' +
  '--rounds 3 --batch clusters ' +
  '--set members=2 --set membersPerDevice=2 --set maxEpochs=2 --set devices=cpu:0';
const search = ['discover', projectFolder('blobs'), ...options.split(' ')];

function start(...args: string[]): { command: ChildProcess; lines: AsyncIterable<string> } {
  const command = spawn(process.execPath, [tutti, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  return { command, lines: createInterface({ input: command.stdout }) };
}

/** Runs a command to its end. @returns its last line */
async function run(...args: string[]): Promise<unknown> {
  const { command, lines } = start(...args);
  const ended = once(command, 'exit') as Promise<[number]>;
  let last = '';
  for await (const line of lines) {
    discoverLineSchema.parse(JSON.parse(line));
    last = line;
  }
  expect((await ended)[0]).toBe(0);
  return JSON.parse(last);
}

const choices = (lines: readonly SearchLine[]): unknown[] =>
  lines.map((line) => ({ ...line, time: null, seconds: null }));

it('a search that is killed while it trains continues with the same choices', async () => {
  const [whole, killed] = ['whole', 'killed'].map((name) => join(home(), name));
  const end = await run(...search, '--out', whole);
  expect(end).toMatchObject({
    type: 'end',
    kind: 'finished',
    arms: [
      { arm: 'ucb', labels: 24 },
      { arm: 'random', labels: 24 },
    ],
  });

  const { command, lines } = start(...search, '--out', killed);
  for await (const line of lines) {
    // The second round has begun to train.
    if (line.includes('"arm":"random","round":1')) break;
  }
  command.kill('SIGKILL');
  await once(command, 'exit');
  expect(await run('discover', '--resume', killed, '--json')).toMatchObject({ type: 'end', kind: 'finished' });
  expect(choices(await readLines(killed))).toEqual(choices(await readLines(whole)));

  // The last round's run trained on the labels before its choice, and keeps them.
  const folder = join(searchPaths(whole).runs, 'ucb-3');
  const record = await readRunRecord(folder);
  const labels = labelsSchema.parse(JSON.parse(await readFile(join(folder, 'labels.json'), 'utf8')));
  expect(record.labels?.count).toBe(20);
  expect(labels.rows).toHaveLength(20);
  expect(record.config.warmStart.checkpoint).toBe(
    join(searchPaths(whole).runs, 'ucb-2', 'checkpoints', 'rank-{rank}', 'final.safetensors'),
  );
  expect(existsSync(join(searchPaths(whole).runs, 'ucb-2'))).toBe(false);
  const loaded = labels.weights?.reduce((sum, weight) => sum + weight, 0);
  expect(loaded).toBeCloseTo(20, 9);
});

it('searches that differ in their seeds give the mean hits, and go on together', async () => {
  const folder = join(home(), 'seeds');
  const begun = await run(...search, '--rounds', '1', '--repeat', '2', '--out', folder);
  const arms = await Promise.all(
    [0, 1].map(async (index) => {
      const lines = await readLines(join(folder, `seed-${index}`));
      return lines.filter((line) => line.type === 'labels').flatMap(({ values }) => values);
    }),
  );
  expect(begun).toMatchObject({ type: 'seeds', seeds: [42, 298], arms: [{ arm: 'ucb' }, { arm: 'random' }] });
  expect(arms[0]).not.toEqual(arms[1]);
  const { arms: means } = discoverLineSchema.parse(begun) as { arms: { labels: object; hits: { count: number } }[] };
  expect(means.map(({ labels, hits }) => [labels, hits.count])).toEqual([
    [{ mean: 16, standardError: 0, count: 2 }, 2],
    [{ mean: 16, standardError: 0, count: 2 }, 2],
  ]);
  // Both have ended, so nothing is trained again.
  expect(await run('discover', '--resume', folder, '--json')).toEqual(begun);
}, 120_000);
