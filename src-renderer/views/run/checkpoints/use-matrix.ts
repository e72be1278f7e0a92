import { computed, type ComputedRef } from 'vue';
import { modeFor } from '../../../../core/metrics/metric-mode.ts';
import type { CheckpointCell } from '../../../../core/protocol/pages/run-data.ts';
import type { RunView } from '../../../../core/protocol/pages/run-views.ts';
import type { RunStore } from '../../../stores/run.ts';
import { memberMetric } from '../run-facts.ts';
import { checkpointMatrix, type CheckpointMatrix, type ScoreOf } from './checkpoint-matrix.ts';

/** The matrix of a run's checkpoints, each scored by its rank's metric for the ensemble's monitor. */
export function useMatrix(
  run: RunStore,
  view: () => RunView,
  saved: () => readonly CheckpointCell[],
): ComputedRef<CheckpointMatrix> {
  const scores = computed(() => {
    const { ensembleMonitor, record } = view();
    return new Map(record.plan.map(({ rank }) => [rank, scoresByEpoch(run, ensembleMonitor, rank)]));
  });
  const scoreOf: ScoreOf = (rank, epoch) => scores.value.get(rank)?.get(epoch) ?? null;
  return computed(() => {
    const { ensembleMonitor, record } = view();
    const mode = ensembleMonitor === null ? null : modeFor(ensembleMonitor, record.config.checkpoints.mode);
    return checkpointMatrix(saved(), scoreOf, mode);
  });
}

function scoresByEpoch(run: RunStore, monitor: string | null, rank: number): Map<number, number> {
  const columns = monitor === null ? undefined : run.columns.get(memberMetric(monitor, rank));
  if (columns === undefined) return new Map();
  return new Map(Array.from(columns.epoch.subarray(0, columns.length), (epoch, at) => [epoch, columns.value[at]]));
}
