import { computed, type ComputedRef, ref, type Ref } from 'vue';
import type { RankView } from '../../../../core/protocol/pages/run-views.ts';
import { whyNotStopRank } from '../../../../core/protocol/run/settings.ts';
import { useHub } from '../../../client/use-hub.ts';
import type { RunStore } from '../../../stores/run.ts';
import { useToastsStore } from '../../../stores/toasts.ts';

export interface RankStop {
  /** Whether single ranks of this run can be stopped. Otherwise there is no button. */
  isOffered: ComputedRef<boolean>;
  /** Why this rank cannot be stopped now; null if it can. */
  whyNot(rank: RankView): string | null;
  /** The rank whose stop awaits confirmation. */
  asked: Ref<number | null>;
  confirm(): Promise<void>;
}

/** States of a rank with steps still to train. */
const trainingStates = new Set(['training', 'paused', 'evaluating']);

/** Stops one rank of a run while the others continue. */
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
    return others ? null : 'It is the last rank that trains. Stop the run instead.';
  }

  async function confirm(): Promise<void> {
    const rank = asked.value;
    asked.value = null;
    if (rank === null) return;
    await toasts.attempt(async () => {
      await hub.control(run.id, { action: 'stop-rank', rank });
      toasts.tell(`Rank ${rank} stops at its next step and keeps a checkpoint. The other ranks continue.`);
    });
  }

  return { isOffered, whyNot, asked, confirm };
}
