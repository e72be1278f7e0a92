import { computed, type ComputedRef, watch, type WritableComputedRef } from 'vue';
import type { HubApi, PredictionData } from '../../../../core/protocol/pages/rpc.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import type { RunStore } from '../../../stores/run.ts';
import { chooseKept, type KeptName, spellKept } from './kept-names.ts';

export interface KeptPredictions {
  names: Loaded<Awaited<ReturnType<HubApi['predictionNames']>>>;
  /** `validation/best`, as the address has it. */
  key: WritableComputedRef<string>;
  chosen: ComputedRef<KeptName | null>;
  predictions: Loaded<PredictionData | null>;
}

/** The predictions that a run kept, and those of them that the address asks for. A run under way keeps more as it evaluates. */
export function usePredictions(run: RunStore): KeptPredictions {
  const hub = useHub();
  const names = useLoaded(() => hub.predictionNames(run.id));
  const key = useQueryParameter('predictions');
  const chosen = computed(() => chooseKept(names.data.value ?? [], key.value));
  const predictions = useLoaded(async () =>
    chosen.value === null ? null : hub.predictions(run.id, { split: chosen.value.split, name: chosen.value.name }),
  );

  const evaluations = computed(() => run.columns.get(run.view?.ensembleMonitor ?? '')?.length ?? 0);
  watch([evaluations, () => run.status], () => void names.reload());
  watch(
    () => chosen.value && `${spellKept(chosen.value)} ${chosen.value.epoch}`,
    () => void predictions.reload(),
  );
  return { names, key, chosen, predictions };
}
