import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import type { SampleFile, SamplePredictions } from '../../../../core/protocol/pages/new-samples.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';

export interface Predicting {
  answer: Readonly<Ref<SamplePredictions | null>>;
  error: Readonly<Ref<string | null>>;
  isBusy: Readonly<Ref<boolean>>;
  /** Address of the image that was sent last; null for other files. */
  image: Readonly<Ref<string | null>>;
  /** Sends what `make` returns. Its errors are shown as those of the hub. */
  predict(make: () => SampleFile | Promise<SampleFile>, shown?: File): Promise<void>;
}

/** Predicts samples with a run's ensemble. */
export function usePredicting(id: string): Predicting {
  const hub = useHub();
  const answer = shallowRef<SamplePredictions | null>(null);
  const error = ref<string | null>(null);
  const isBusy = ref(false);
  const image = ref<string | null>(null);

  function show(file: File | undefined): void {
    if (image.value !== null) URL.revokeObjectURL(image.value);
    image.value = file?.type.startsWith('image/') ? URL.createObjectURL(file) : null;
  }

  async function predict(make: () => SampleFile | Promise<SampleFile>, shown?: File): Promise<void> {
    isBusy.value = true;
    error.value = null;
    answer.value = null;
    show(shown);
    try {
      answer.value = await hub.predictSamples(id, await make());
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isBusy.value = false;
  }

  onScopeDispose(() => show(undefined));
  return { answer, error, isBusy, image, predict };
}
