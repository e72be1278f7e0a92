import { computed, type ComputedRef } from 'vue';
import type { RunView } from '../../../../core/protocol/pages/rpc.ts';
import type { RunStore } from '../../../stores/run.ts';
import { memberMetric } from '../run-facts.ts';
import type { ScoreOf } from './checkpoint-matrix.ts';

/** Each rank's own score by epoch: its member metric that answers the ensemble's monitor. */
export function useScores(run: RunStore, view: () => RunView): ComputedRef<ScoreOf> {
  const scores = computed(() => {
    const monitor = view().ensembleMonitor;
    return new Map(view().record.plan.map(({ rank }) => [rank, monitor === null ? null : byEpoch(run, monitor, rank)]));
  });
  return computed(() => (rank, epoch) => scores.value.get(rank)?.get(epoch) ?? null);
}

function byEpoch(run: RunStore, monitor: string, rank: number): Map<number, number> {
  const scores = new Map<number, number>();
  const columns = run.columns.get(memberMetric(monitor, rank));
  for (let index = 0; index < (columns?.length ?? 0); index++) {
    if (columns !== undefined) scores.set(columns.epoch[index], columns.value[index]);
  }
  return scores;
}
