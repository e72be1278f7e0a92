import { type Ref, ref, shallowRef, watch } from 'vue';
import type { RoundPrediction } from '../../../../core/protocol/pages/discovery-views.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';

export interface RoundPredictions {
  /** That of the shown round; of the one before until it has arrived. */
  prediction: Readonly<Ref<RoundPrediction | null>>;
  error: Readonly<Ref<string | null>>;
  /** All that were read, so that axes stay the same while rounds change. */
  read: Readonly<Ref<readonly RoundPrediction[]>>;
}

/**
 * What the ensemble of a round predicted. Each round is read once, and again when further candidates have been chosen.
 */
export function useRoundPrediction(id: string, place: () => { round: number; chosenRounds: number }): RoundPredictions {
  const hub = useHub();
  const known = new Map<string, Promise<RoundPrediction>>();
  const byRound = new Map<number, RoundPrediction>();
  const prediction = shallowRef<RoundPrediction | null>(null);
  const read = shallowRef<readonly RoundPrediction[]>([]);
  const error = ref<string | null>(null);
  let turn = 0;

  async function show(round: number, chosenRounds: number): Promise<void> {
    const own = ++turn;
    const key = `${round} ${chosenRounds}`;
    const reading = known.get(key) ?? hub.discoveryRound(id, round);
    known.set(key, reading);
    try {
      const found = await reading;
      byRound.set(round, found);
      read.value = [...byRound.values()];
      if (own !== turn) return;
      prediction.value = found;
      error.value = null;
    } catch (reason) {
      known.delete(key);
      if (own === turn) [prediction.value, error.value] = [null, messageOf(reason)];
    }
  }

  watch(
    place,
    ({ round, chosenRounds }, before) => {
      if (before?.round !== round || before.chosenRounds !== chosenRounds) void show(round, chosenRounds);
    },
    { immediate: true },
  );
  return { prediction, error, read };
}
