import type { PlainObject } from '../../../core/options/index.ts';
import { getPath } from '../../../core/options/index.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import {
  type SettingChanges,
  type SettingName,
  settingNames,
  settingPaths,
  settingsOf,
} from '../../../core/protocol/run/settings.ts';
import { keptWorkers } from '../../../core/protocol/run/workers.ts';
import type { ResumePoint } from '../../store/runs/resume-point.ts';
import { type AttemptFacts, withNext } from '../recording/attempts.ts';

/** A resume would train nothing, so it changes nothing. */
export class NothingLeftError extends Error {
  override name = 'NothingLeftError';
}

/** Why a run cannot or need not be resumed with this configuration; null if it can. */
export function whyNotResume(record: RunRecord, config: RunConfig, point: ResumePoint | null): Error | null {
  const { id, status, summary } = record;
  if (status !== 'finished' || summary === null) return null;
  if (record.parts !== undefined) {
    return new Error(
      `The run ${id} was made from checkpoints and has no state to resume from. To train its members further: ` +
        `tutti fork ${id} --best`,
    );
  }
  const { epochs, steps, stopReason } = summary;
  if (point === null) {
    return new Error(
      `The run ${id} has finished, and its final state is gone (its folder state/ is missing): a resume would ` +
        'train it again from the start and replace its checkpoints. Start another run instead.',
    );
  }
  const hasStepsLeft = point.epoch < config.maxEpochs && (config.maxSteps === 0 || point.step < config.maxSteps);
  const isStopped = stopReason === 'early-stopping' && isEqual(config.earlyStopping, record.config.earlyStopping);
  if (hasStepsLeft && !isStopped) return null;
  const done = `Nothing is left to do: the run ${id} has finished after ${epochs} epochs and ${steps} steps`;
  if (isStopped) {
    return new NothingLeftError(
      `${done}, by early stopping. To train it further: tutti resume ${id} --set ` +
        `earlyStopping.patience=${2 * currentPatience(record)}`,
    );
  }
  const missing = lostRanksOf(record);
  if (missing.length > 0) {
    return new NothingLeftError(
      `${done}, without rank ${missing.join(', ')}. To complete a missing member: tutti resume ${id} ` +
        `--rank ${missing[0]}`,
    );
  }
  const limit =
    point.epoch >= config.maxEpochs ? `--max-epochs ${2 * config.maxEpochs}` : `--set maxSteps=${2 * config.maxSteps}`;
  return new NothingLeftError(`${done}. To train it further: tutti resume ${id} ${limit}`);
}

/**
 * The record of a run at the start of a resume, before its ranks are ready. It keeps the summary until there is a new
 * one.
 */
export function resumedRecord(
  record: RunRecord,
  override: PlainObject,
  now: Pick<RunRecord, 'config' | 'plan' | 'blas'> &
    Pick<AttemptFacts, 'completes' | 'sourceHash' | 'gitCommit' | 'environment'>,
): RunRecord {
  const { config, plan, blas, ...source } = now;
  const changed = stillChanged(record, override);
  const { changed: _replaced, workers: _chosen, ...kept } = record;
  const attempts = withNext(record.attempts, { kind: 'resume', overrides: override, config, ...source });
  return {
    ...kept,
    ...keptWorkers(record, config),
    ...(changed === undefined ? {} : { changed }),
    config,
    plan,
    blas,
    status: 'created',
    endedAt: null,
    error: null,
    attempts,
  };
}

/** The settings that were changed while the run trained and are not overridden now. */
export function stillChanged(
  { changed }: Pick<RunRecord, 'changed'>,
  override: PlainObject,
): SettingChanges | undefined {
  if (changed === undefined) return undefined;
  const isOverridden = (name: SettingName) => getPath(override, settingPaths[name].split('.')) !== undefined;
  const kept = settingNames.filter((name) => changed[name] !== undefined && !isOverridden(name));
  return Object.fromEntries(kept.map((name) => [name, changed[name]]));
}

function isEqual(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function currentPatience({ config, changed }: RunRecord): number {
  return changed?.patience ?? settingsOf(config).patience;
}
