import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import type { Study } from '../../../core/protocol/studies/study.ts';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { type DriverOptions, StudyDriver } from '../../../src-main/studies/work/driver.ts';
import type { Evaluation, PartJob, PartOutcome, TrialRunner } from '../../../src-main/studies/work/runner.ts';

/** What a run of a test does: its evaluations, or why it fails. */
export type Training = (job: PartJob) => Evaluation[] | Error;

export const evaluationOf = (step: number, ensemble: number, meanMember = 2 * ensemble): Evaluation => ({
  step,
  scores: [{ metric: 'nll', ensemble, meanMember }],
});

/** Runs in memory: an evaluation each turn of the loop, and the last one counts. It keeps which jobs it trained. */
export class MemoryRunner implements TrialRunner {
  readonly jobs: PartJob[] = [];
  /** The trial of each request to stop. */
  readonly stops: number[] = [];
  readonly #train: Training;
  /** Turns of the loop before a run ends, by trial. */
  readonly #turns: (trial: number) => number;

  constructor(train: Training, turns: (trial: number) => number = () => 0) {
    this.#train = train;
    this.#turns = turns;
  }

  async plan(job: PartJob) {
    this.jobs.push(job);
    const { trial, part, values } = job;
    if (values.units === 'none') throw new Error('No model has no units.');
    return {
      run: `run-${trial}-${part.split}-${part.seed}`,
      ranks: null,
      devices: ['cpu:0'],
      epochs: 10,
      start: (onEvaluation: (evaluation: Evaluation) => void) => {
        let isStopped = false;
        const stop = (): void => {
          this.stops.push(trial);
          isStopped = true;
        };
        const outcome = (async (): Promise<PartOutcome> => {
          const trained = this.#train(job);
          for (let turn = 0; turn < this.#turns(trial); turn++) await setImmediate();
          if (trained instanceof Error) return { kind: 'failed', message: trained.message };
          for (const evaluation of trained) {
            await setImmediate();
            if (isStopped) return { kind: 'stopped' };
            onEvaluation(evaluation);
          }
          return isStopped ? { kind: 'stopped' } : { kind: 'ended', scores: trained[trained.length - 1].scores };
        })();
        return { outcome, stop, abort: stop };
      },
    };
  }
}

/** A study in a home of its own. */
export async function newStudy(study: Study, trials: number): Promise<StudyStore> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-study-'));
  vi.stubEnv('TUTTI_HOME', home);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(home, { recursive: true, force: true });
  });
  return StudyStore.create(study, [{ type: 'trials', count: trials }]);
}

/** Another process's view of the study. */
export const reopened = (store: StudyStore): Promise<StudyStore> => StudyStore.open(store.folder);

export const drive = (options: Omit<DriverOptions, 'places'> & { places?: number }): StudyDriver =>
  new StudyDriver({ places: options.store.study.parallel, ...options });
