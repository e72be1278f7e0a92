import { resolveMode } from '../../core/metrics/metric-mode.ts';
import type { RunConfig } from '../../core/protocol/run/config.ts';
import type { RunFiles } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import type { Callback } from './callback.ts';
import { epochName } from './callback.ts';
import { EarlyStopping } from './early-stopping.ts';
import { type EarlierMembers, EnsembleMetrics } from './ensemble-metrics.ts';
import { KeepPredictions } from './keep-predictions.ts';
import { PlateauSchedule } from './plateau-schedule.ts';
import { PerRankBestCheckpoint, PerRankCheckpoint } from './per-rank-checkpoint.ts';
import { TopCheckpoints } from './top-checkpoints.ts';

export interface CallbackPlan {
  config: RunConfig;
  task: Task;
  files: RunFiles;
  /** Ranks that have ended, whose predictions are in the run's folder. */
  finishedRanks: readonly number[];
  /** Whether members train in several waves. */
  isInWaves: boolean;
  hasValidation: boolean;
}

/** A run's callbacks, in the order they are called: metrics first, then those that read them. */
export function createCallbacks(plan: CallbackPlan): Callback[] {
  const { config, task, hasValidation } = plan;
  const { checkpoints, earlyStopping, schedule } = config;
  const checkpoint = new PerRankCheckpoint({ final: checkpoints.final, everyEpochs: checkpoints.everyEpochs });
  if (!hasValidation) {
    if (earlyStopping.enabled) {
      throw new Error('Early stopping needs a validation split, and this project has none. Add one, or turn it off.');
    }
    if (schedule.kind === 'plateau') {
      throw new Error(
        'The schedule plateau needs a validation split, and this project has none. Add one, or use another schedule.',
      );
    }
    return [checkpoint];
  }
  const callbacks: Callback[] = [...bestCheckpoints(plan), checkpoint, ...predictionKeeper(plan)];
  const monitors = [task.ensembleMonitor, ...(checkpoints.memberBest ? [task.memberMonitor] : [])];
  if (earlyStopping.enabled) {
    const automatic = earlyStopping.joint ? task.ensembleMonitor : task.memberMonitor;
    const monitor = earlyStopping.monitor === 'auto' ? automatic : earlyStopping.monitor;
    callbacks.push(new EarlyStopping({ ...earlyStopping, monitor }));
    monitors.push(monitor);
  }
  if (schedule.kind === 'plateau') {
    const monitor = schedule.monitor === 'auto' ? task.ensembleMonitor : schedule.monitor;
    callbacks.push(new PlateauSchedule({ ...schedule, monitor }));
    monitors.push(monitor);
  }
  return [metricsCallback(plan, monitors), ...callbacks];
}

function metricsCallback(plan: CallbackPlan, monitors: readonly string[]): Callback {
  const { config, task, files, finishedRanks, isInWaves } = plan;
  const earlierMembers = earlierMembersOf(files, finishedRanks);
  const comparesWaves = isInWaves && !config.identicalSeeds;
  return new EnsembleMetrics({ metricsOf: task.metrics, earlierMembers, monitors, comparesWaves });
}

function bestCheckpoints(plan: CallbackPlan): Callback[] {
  const { config, task } = plan;
  const { ensembleBest, memberBest, keepTop, mode } = config.checkpoints;
  const monitor = task.ensembleMonitor;
  return [
    ...(ensembleBest && !plan.isInWaves ? [new PerRankBestCheckpoint({ monitor, mode, name: 'ensemble-best' })] : []),
    ...(keepTop > 0 && !plan.isInWaves
      ? [new TopCheckpoints({ monitor, mode: resolveMode(monitor, mode, 'checkpoints.mode'), count: keepTop })]
      : []),
    ...(memberBest ? [new PerRankBestCheckpoint({ monitor: task.memberMonitor, mode, name: 'member-best' })] : []),
  ];
}

/** Waves keep the predictions of every evaluation: later waves need them for the ensemble's metrics. */
function predictionKeeper(plan: CallbackPlan): Callback[] {
  const { config, task } = plan;
  const which = plan.isInWaves ? 'all' : config.keepPredictions;
  return which === 'none'
    ? []
    : [new KeepPredictions({ which, monitor: task.ensembleMonitor, mode: config.checkpoints.mode })];
}

/** Members of earlier waves at the same epoch or, if they had ended before, at the end. */
function earlierMembersOf(files: RunFiles, ranks: readonly number[]): EarlierMembers {
  return async (epoch) => {
    const kept = await Promise.all(
      ranks.map(async (rank) => {
        const atEpoch = await files.readPredictions('validation', rank, epochName(epoch));
        return atEpoch ?? files.readPredictions('validation', rank, 'last');
      }),
    );
    return kept.filter((predictions) => predictions !== null);
  };
}
