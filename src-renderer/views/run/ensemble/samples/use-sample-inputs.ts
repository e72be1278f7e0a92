import { type Ref, ref, shallowRef, watch } from 'vue';
import { type InputPart, type InputsRequest, maximumInputs } from '../../../../../core/ensemble/sample-inputs.ts';
import { messageOf } from '../../../../../core/text/errors.ts';
import { useHub } from '../../../../client/use-hub.ts';

/** Inputs beyond this number are forgotten, and read again where they are wanted. */
const keptInputs = 400;

export interface ShownInputs {
  /** The inputs that have been read, by the samples' places in the split. */
  inputs: Readonly<Ref<ReadonlyMap<number, readonly InputPart[]>>>;
  warnings: Readonly<Ref<readonly string[]>>;
  error: Readonly<Ref<string | null>>;
  isLoading: Readonly<Ref<boolean>>;
  reload(): Promise<void>;
}

/**
 * Reads the inputs of the samples that are wanted.
 * @param wanted null: none, because reading starts a process with the project's code
 */
export function useSampleInputs(id: string, wanted: () => InputsRequest | null): ShownInputs {
  const hub = useHub();
  const inputs = shallowRef<ReadonlyMap<number, readonly InputPart[]>>(new Map());
  const warnings = shallowRef<readonly string[]>([]);
  const error = ref<string | null>(null);
  const isLoading = ref(false);
  let split = '';
  let turn = 0;

  async function reload(): Promise<void> {
    const request = wanted();
    if (request === null) return;
    if (request.split !== split) inputs.value = new Map();
    split = request.split;
    const missing = [...new Set(request.samples)].filter((sample) => !inputs.value.has(sample));
    if (missing.length === 0) return;
    const own = ++turn;
    isLoading.value = true;
    try {
      const found = await hub.sampleInputs(id, { split: request.split, samples: missing.slice(0, maximumInputs) });
      if (own !== turn) return;
      const before = inputs.value.size < keptInputs ? inputs.value : [];
      inputs.value = new Map([...before, ...found.inputs.map(({ sample, parts }) => [sample, parts] as const)]);
      warnings.value = found.warnings;
      error.value = null;
    } catch (reason) {
      if (own === turn) error.value = messageOf(reason);
    }
    if (own === turn) isLoading.value = false;
  }

  watch(
    () => JSON.stringify(wanted()),
    () => void reload(),
    { immediate: true },
  );
  return { inputs, warnings, error, isLoading, reload };
}
