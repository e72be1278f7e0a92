import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import type { SampleFile, SamplePredictions, SamplesToPredict } from '../../../../core/protocol/pages/new-samples.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type ChosenFile, sendFile } from './sample-file.ts';

export interface Predicting {
  answer: Readonly<Ref<SamplePredictions | null>>;
  error: Readonly<Ref<string | null>>;
  isBusy: Readonly<Ref<boolean>>;
  /** How much of a large file was sent, as a share; null while none is being sent. */
  sentShare: Readonly<Ref<number | null>>;
  /** Address of the image that was sent last; null for other files. */
  image: Readonly<Ref<string | null>>;
  /** Predicts a row. Errors of `make` are shown as those of the hub. */
  predictRow(make: () => SampleFile): Promise<void>;
  /** Sends a file and predicts it. */
  predictFile(choose: () => ChosenFile): Promise<void>;
  /** Stops sending a file. */
  cancel(): void;
}

/** Predicts samples with a run's ensemble. */
export function usePredicting(id: string): Predicting {
  const hub = useHub();
  const answer = shallowRef<SamplePredictions | null>(null);
  const error = ref<string | null>(null);
  const isBusy = ref(false);
  const sentShare = ref<number | null>(null);
  const image = ref<string | null>(null);
  let sending = new AbortController();

  function show(file: File | null): void {
    if (image.value !== null) URL.revokeObjectURL(image.value);
    image.value = file?.type.startsWith('image/') ? URL.createObjectURL(file) : null;
  }

  async function predict(make: () => SamplesToPredict | Promise<SamplesToPredict>): Promise<void> {
    isBusy.value = true;
    error.value = null;
    answer.value = null;
    show(null);
    try {
      answer.value = await hub.predictSamples(id, await make());
    } catch (reason) {
      error.value = messageOf(reason);
    }
    isBusy.value = false;
  }

  async function send(chosen: ChosenFile): Promise<SamplesToPredict> {
    show(chosen.file);
    sending = new AbortController();
    const tell = (sentBytes: number): void => void (sentShare.value = sentBytes / chosen.file.size);
    try {
      return await sendFile(hub, chosen, { tell, signal: sending.signal });
    } finally {
      sentShare.value = null;
    }
  }

  function cancel(): void {
    sending.abort(new Error('Sending was cancelled. Nothing was predicted.'));
  }

  onScopeDispose(() => {
    cancel();
    show(null);
  });
  return {
    answer,
    error,
    isBusy,
    sentShare,
    image,
    predictRow: predict,
    predictFile: (choose) => predict(() => send(choose())),
    cancel,
  };
}
