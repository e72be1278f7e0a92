import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** Starts `tutti search` for the comparison, and reads what came of it (docs/json.md). */

const tutti = resolve(import.meta.dirname, '../../src-main/tutti.mjs');

/** A complete trial: the MSE of the ensemble and of its mean member on each split. */
export interface WeightDecayTrial {
  weightDecay: number;
  ensemble: number[];
  meanMember: number[];
}

/**
 * Searches, or continues the study whose id is in a file.
 * @param note a file that keeps the study's id
 * @returns the complete trials in the order in which they were chosen
 * @throws Error if a command fails
 */
export async function searchStudy(note: string, options: readonly string[]): Promise<WeightDecayTrial[]> {
  const begin = existsSync(note) ? ['--study', await readFile(note, 'utf8')] : [import.meta.dirname, ...options];
  await runTutti(['search', ...begin, '--json', '--trust'], async (event) => {
    const { type, study, trial } = event as SearchEvent;
    if (type === 'study') {
      await mkdir(dirname(note), { recursive: true });
      await writeFile(note, study.id);
    } else if (type === 'trial') console.error(`trial ${trial.number}: ${trial.state}`);
  });
  const trials: WeightDecayTrial[] = [];
  await runTutti(['studies', await readFile(note, 'utf8'), '--json'], (event) => {
    const { state, values, runs } = event as StudyTrial;
    if (state !== 'complete') return;
    const scores = runs.toSorted((left, right) => left.part.split - right.part.split).map(({ scores: [own] }) => own);
    trials.push({
      weightDecay: values['optimizer.weightDecay'],
      // NaN and infinities are texts in JSON.
      ensemble: scores.map(({ ensemble }) => Number(ensemble)),
      meanMember: scores.map(({ meanMember }) => Number(meanMember)),
    });
  });
  return trials;
}

interface StudyTrial {
  number: number;
  state: string;
  values: Record<string, number>;
  runs: { part: { split: number }; scores: { ensemble: number | string; meanMember: number | string }[] }[];
}

type SearchEvent = { type: 'study' | 'trial' | 'ended'; study: { id: string }; trial: StudyTrial };

/** @param take gets each line of the command's JSON */
async function runTutti(options: readonly string[], take: (event: unknown) => void | Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [tutti, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) await take(JSON.parse(line));
  const [code] = await ended;
  if (code !== 0) throw new Error(`tutti ${options[0]} ended with exit code ${code}.`);
}
