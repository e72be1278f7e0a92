import { setImmediate } from 'node:timers/promises';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { StudyDriver } from '../../../src-main/studies/work/driver.ts';
import type { PartOutcome, TrialRunner } from '../../../src-main/studies/work/runner.ts';
import { lossOf } from './loss.ts';

/**
 * Works on the study in a folder with one trial at a time, whose runs are computed here, and prints the number of each
 * trial that it begins.
 */

const runner: TrialRunner = {
  plan: ({ trial, values }) => {
    console.log(trial);
    const outcome = async (): Promise<PartOutcome> => {
      // Trials of different lengths, so that they overlap in many ways.
      for (let turn = 0; turn < trial % 7; turn++) await setImmediate();
      const loss = lossOf(values);
      return { kind: 'ended', scores: [{ metric: 'nll', ensemble: loss, meanMember: loss }] };
    };
    const start = () => ({ outcome: outcome(), stop: () => undefined, abort: () => undefined });
    return Promise.resolve({ run: `run-${trial}`, ranks: null, devices: [], epochs: 1, start });
  },
};

const store = await StudyStore.open(process.argv[2]);
const end = await new StudyDriver({ store, runner, places: 1 }).run();
if (end !== 'finished') throw new Error(`The study ${end}.`);
