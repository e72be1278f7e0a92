import { computed, type ComputedRef, watch, type WritableComputedRef } from 'vue';
import type { HubApi } from '../../../../core/protocol/pages/hub-methods.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import { useQueryParameter } from '../../../composables/use-query.ts';
import type { RunStore } from '../../../stores/run.ts';

export interface KeptPredictions {
  names: Loaded<Awaited<ReturnType<HubApi['predictionNames']>>>;
  /** `validation/best`, kept in the address. */
  key: WritableComputedRef<string>;
  chosen: ComputedRef<KeptName | null>;
  predictions: Loaded<PredictionData | null>;
}

/**
 * The predictions that a run kept, and those that the address selects. A running run keeps more with each evaluation.
 */
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

/** Predictions of one split that a run kept under a name. */
export type KeptName = Awaited<ReturnType<HubApi['predictionNames']>>[number];

/** `validation/best`. */
export function spellKept({ split, name }: KeptName): string {
  return `${split}/${name}`;
}

/** By split, validation first, then by epoch: the order of the slider. */
export function inTime(names: readonly KeptName[]): KeptName[] {
  return names.toSorted(
    (left, right) =>
      right.split.localeCompare(left.split) || left.epoch - right.epoch || left.name.localeCompare(right.name),
  );
}

/**
 * The requested predictions; else those of the best evaluation, which a run that keeps all has under its epoch's name;
 * else the latest. Null where nothing was kept.
 */
export function chooseKept(names: readonly KeptName[], asked: string): KeptName | null {
  const named = (key: string): KeptName[] => names.filter((kept) => spellKept(kept) === key);
  const best = named('test/ensemble-best');
  const ofBestEpoch = names.filter(({ split, epoch }) => split === 'validation' && epoch === best.at(0)?.epoch);
  const wanted = [named(asked), named('validation/best'), named('validation/ensemble-best'), ofBestEpoch, best];
  return wanted.flat().at(0) ?? inTime(names).at(-1) ?? null;
}
