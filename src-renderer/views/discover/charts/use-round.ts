import { computed, type ComputedRef, ref, type Ref } from 'vue';
import type { ChosenBatch, DiscoveryView } from '../../../../core/protocol/pages/discovery/discovery-views.ts';
import type { PlotAxis } from '../../../charts/scene/axes.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';

/** The round that the page shows; the address keeps it. Without one it is the last. */
export function useRound(choices: () => readonly ChosenBatch[]): {
  batch: ComputedRef<ChosenBatch>;
  select: (round: number) => void;
} {
  const named = useQueryParameter('round');
  const batch = computed(
    () => choices().find(({ round }) => String(round) === named.value) ?? choices()[choices().length - 1],
  );
  return {
    batch,
    select: (round) => {
      const last = choices().at(-1)?.round;
      // The last round stays the last while the search goes on.
      named.value = round === last ? '' : String(round);
    },
  };
}

/** An axis of rounds, on which a press on a round shows it. */
export function useRoundAxis(view: () => Pick<DiscoveryView, 'choices' | 'search'>): {
  axis: ComputedRef<PlotAxis>;
  hovered: Ref<number | null>;
  pick: (round: number) => void;
} {
  const hovered = ref<number | null>(null);
  const { select } = useRound(() => view().choices);
  const axis = computed(() => ({
    label: 'round',
    scale: { from: -0.3, to: Math.max(1, view().choices.length) + 0.3, isLog: false },
  }));
  return { axis, hovered, pick: select };
}
