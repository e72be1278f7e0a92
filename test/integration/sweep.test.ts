import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { sweepLineSchema } from '../../core/protocol/pages/json-outputs.ts';
import type { SweepSummary } from '../../core/protocol/pages/sweep-summary.ts';
import { findSubject, newSweep, readSweep } from '../../src-main/campaigns/sweep-plan.ts';
import { SweepWork } from '../../src-main/campaigns/sweep-work.ts';
import { projectFolder, useHub } from './harness.ts';

const { hub } = useHub();
const blobs = projectFolder('blobs');
const cli = resolve(import.meta.dirname, '../../src-main/cli.ts');
const options = ['--members', '2', '--max-epochs', '4', '--members-per-device', '2'];

type Line = z.output<typeof sweepLineSchema>;

function tutti(...args: string[]): ChildProcess {
  return spawn(process.execPath, [cli, ...args, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Reads the lines that a command prints, up to the first of a type, or all. */
async function linesOf({ stdout }: ChildProcess, last?: Line['type']): Promise<Line[]> {
  if (stdout === null) throw new Error('The command has no output.');
  const lines: Line[] = [];
  for await (const text of createInterface({ input: stdout })) {
    const line = sweepLineSchema.parse(JSON.parse(text));
    lines.push(line);
    if (line.type === last) break;
  }
  return lines;
}

const nlls = ({ runs, scores }: SweepSummary) => ({ seeds: runs.map(({ seed }) => seed), scores });

it('finds the same after SIGKILL, without training again what was done', async () => {
  const project = await hub().describe(blobs);
  const config = { members: 2, maxEpochs: 4, membersPerDevice: 2 };
  const plan = await newSweep(hub(), { projectFolder: blobs, overrides: [config] }, project, 3);
  const work = new SweepWork({ hub: hub(), plan, parallel: 2, listener: () => undefined });
  expect(await work.run()).toBe('done');
  const undisturbed = await readSweep(hub(), plan.sweep.id);
  expect(undisturbed.runs.map(({ seed, status }) => [seed, status])).toEqual([
    [42, 'finished'],
    [298, 'finished'],
    [554, 'finished'],
  ]);
  expect(undisturbed.scores.every(({ ensemble, leftOut }) => ensemble.count === 3 && leftOut.length === 0)).toBe(true);
  // Its id, its name and the beginning of its id mean the sweep, the whole id of a run that run.
  const { id } = plan.sweep;
  expect(await findSubject(hub(), id.slice(0, -1))).toMatchObject({ kind: 'sweep', sweep: { id, of: 3 } });
  expect(await findSubject(hub(), `${id}-seed-1`)).toMatchObject({ kind: 'run', row: { id: `${id}-seed-1` } });

  const first = tutti('train', blobs, '--trust', '--repeat', '3', '--name', 'killed', ...options);
  const before = await linesOf(first, 'run');
  first.kill('SIGKILL');
  await once(first, 'exit');
  const [begin] = before;
  if (begin.type !== 'sweep') throw new Error('The first line names the sweep.');
  const second = tutti('resume', begin.sweep.id);
  const exit = once(second, 'exit');
  const after = await linesOf(second);
  expect(await exit).toEqual([0, null]);

  const done = after.flatMap((line) => (line.type === 'run' ? [`${line.index} by ${line.by}`] : []));
  expect(done).toEqual(['0 by an earlier one', '1 by this process', '2 by this process']);
  const end = after.at(-1);
  if (end?.type !== 'ended') throw new Error('The last line says how the sweep ended.');
  expect(nlls(end.summary)).toEqual(nlls(undisturbed));
}, 180_000);
