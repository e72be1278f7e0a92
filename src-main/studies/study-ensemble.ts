import { join } from 'node:path';
import type { StudyEnsembleRequest } from '../../core/protocol/pages/study-views.ts';
import type { LoggedTrial } from '../../core/protocol/studies/study-log.ts';
import type { Hub } from '../hub/hub.ts';
import { type CombinedRun, combineRuns } from '../parts/combine-runs.ts';
import type { PartsRun } from '../parts/choose-candidates.ts';
import { homePaths } from '../store/home.ts';
import { readRunRecord } from '../store/runs/run-folder.ts';
import type { StudyStore } from './study-store.ts';

/**
 * The runs of trials from which an ensemble is made: those with the first split and seed, because members of one
 * ensemble need the same validation data.
 * @param trials their numbers; null: all complete ones
 * @throws Error if a trial is not complete, or its run is gone
 */
export async function runsOfTrials(
  { study, log }: Pick<StudyStore, 'study' | 'log'>,
  trials: readonly number[] | null,
): Promise<PartsRun[]> {
  const chosen =
    trials === null ? log.trials.filter(hasRun) : trials.map((number) => requireComplete(log.trials, number));
  if (chosen.length === 0) {
    throw new Error(
      `No trial of the study ${study.id} is complete, so there are no members to choose from. Train it first.`,
    );
  }
  return Promise.all(
    chosen.map(async ({ runs }) => {
      const folder = join(homePaths().runs, runs[0].run);
      return { folder, record: await readRunRecord(folder) };
    }),
  );
}

/**
 * Makes an ensemble from the members of a study's trials, in which they may repeat: a hyper-deep ensemble, where the
 * members of each configuration differ in their seeds.
 *
 * Source: Wenzel et al., "Hyperparameter ensembles for robustness and uncertainty quantification", NeurIPS 2020.
 *
 * @throws Error as {@link runsOfTrials} does
 */
export async function makeEnsemble(
  hub: Hub,
  store: StudyStore,
  { method, trials, size, name }: StudyEnsembleRequest,
): Promise<CombinedRun> {
  const usual = { set: 'ensemble-best', tolerance: 0, samples: 1, deviations: 2 };
  const combined = await combineRuns(await runsOfTrials(store, trials), { ...usual, method, name, rounds: size });
  hub.index.upsert(combined.record, combined.folder);
  return combined;
}

const hasRun = ({ state, runs }: LoggedTrial): boolean => state === 'complete' && runs.length > 0;

function requireComplete(trials: readonly LoggedTrial[], number: number): LoggedTrial {
  const trial = trials.at(number);
  if (trial !== undefined && hasRun(trial)) return trial;
  const state =
    trial === undefined ? 'does not exist' : trial.runs.length === 0 ? 'has no run here' : `is ${trial.state}`;
  throw new Error(`Trial ${number} ${state}: an ensemble is made from complete trials. Leave it out.`);
}
