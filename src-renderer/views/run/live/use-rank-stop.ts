import { computed, type ComputedRef, ref, type Ref } from 'vue';
import type { RankView } from '../../../../core/protocol/pages/run-views.ts';
import { whyNotStopRank } from '../../../../core/protocol/run/settings.ts';
import { useHub } from '../../../client/use-hub.ts';
import type { RunStore } from '../../../stores/run.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

export interface RankStop {
  /** Whether ranks of this run can be stopped alone at all: else there is no such button. */
  isOffered: ComputedRef<boolean>;
  /** Why this rank cannot be now; null where it can. */
  whyNot(rank: RankView): string | null;
  /** The rank whose stop the user is asked to confirm. */
  asked: Ref<number | null>;
  confirm(): Promise<void>;
}

/** States in which a rank has steps left to leave out. */
const trainingStates = new Set(['training', 'paused', 'evaluating']);

/** Stops one rank of a run while the others go on. */
export function useRankStop(run: RunStore): RankStop {
  const hub = useHub();
  const toasts = useToastsStore();
  const asked = ref<number | null>(null);
  const isOffered = computed(
    () => run.status === 'running' && run.view?.isInReach === true && whyNotStopRank(run.view.record.config) === null,
  );

  function whyNot({ rank, state }: RankView): string | null {
    if (!trainingStates.has(state)) return `Rank ${rank} is ${state}.`;
    const others = run.ranks.some((other) => other.rank !== rank && trainingStates.has(other.state));
    return others ? null : 'It is the last that trains: stop the run instead.';
  }

  async function confirm(): Promise<void> {
    const rank = asked.value;
    asked.value = null;
    if (rank === null) return;
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'stop-rank', rank });
      toasts.tell(`Rank ${rank} stops at its next step and keeps a checkpoint. The others go on.`);
    });
  }

  return { isOffered, whyNot, asked, confirm };
}
