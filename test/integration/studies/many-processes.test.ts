import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { drive, evaluationOf, MemoryRunner, newStudy } from '../../unit/studies/memory-runner.ts';
import { studyOf } from '../../unit/studies/studies.ts';
import { lossOf } from './loss.ts';

const entry = fileURLToPath(new URL('worker-process.ts', import.meta.url));
const trials = 60;
const study = studyOf({ parallel: 8 });

/** @returns the trials that a process began, in order */
async function work(folder: string): Promise<number[]> {
  const child = spawn(process.execPath, [entry, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const begun: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) begun.push(Number(line));
  expect(await ended).toEqual([0, null]);
  return begun;
}

it('eight processes share a study, and lose and repeat no trial', async () => {
  const shared = await newStudy(study, trials);
  const begun = await Promise.all(Array.from({ length: 8 }, () => work(shared.folder)));
  expect(begun.flat().sort((left, right) => left - right)).toEqual(Array.from({ length: trials }, (_, n) => n));
  await shared.refresh();
  expect(shared.warnings).toEqual([]);
  const { log } = shared;
  expect(log.works.every(({ losses, end }) => losses === 0 && end?.state === 'complete')).toBe(true);

  // One process chooses the same values, and gets the same objectives.
  const alone = await newStudy(study, trials);
  await drive({ store: alone, runner: new MemoryRunner(({ values }) => [evaluationOf(1, lossOf(values))]) }).run();
  const known = (trial: (typeof log.trials)[number]) => [trial.values, trial.objectives];
  expect(log.trials.map(known)).toEqual(alone.log.trials.map(known));
}, 60_000);
