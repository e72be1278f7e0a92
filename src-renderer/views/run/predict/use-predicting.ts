import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import type { SampleFile, SamplePredictions, SamplesToPredict } from '../../../../core/protocol/pages/new-samples.ts';
import { useHub } from '../../../client/use-hub.ts';
import { useAction } from '../../../composables/use-action.ts';
import { type ChosenFile, sendFile } from './sample-file.ts';

interface Predicting extends Pick<Sending, 'sentShare' | 'cancel'> {
  answer: Readonly<Ref<SamplePredictions | null>>;
  error: Readonly<Ref<string | null>>;
  isBusy: Readonly<Ref<boolean>>;
  /** Address of the image that was sent last; null for other files. */
  image: Readonly<Ref<string | null>>;
  /** Predicts a row. Errors of `make` are shown as those of the hub. */
  predictRow(make: () => SampleFile): Promise<void>;
  /** Sends a file and predicts it. */
  predictFile(choose: () => ChosenFile): Promise<void>;
}

/** Predicts samples with a run's ensemble. */
export function usePredicting(id: string): Predicting {
  const hub = useHub();
  const { sentShare, send, cancel } = useSending();
  const answer = shallowRef<SamplePredictions | null>(null);
  const { isBusy, error, act } = useAction();
  const image = ref<string | null>(null);

  function show(file: File | null): void {
    if (image.value !== null) URL.revokeObjectURL(image.value);
    image.value = file?.type.startsWith('image/') ? URL.createObjectURL(file) : null;
  }

  async function predict(make: () => SamplesToPredict | Promise<SamplesToPredict>): Promise<void> {
    answer.value = null;
    show(null);
    await act(async () => {
      answer.value = await hub.predictSamples(id, await make());
    });
  }

  async function predictFile(choose: () => ChosenFile): Promise<void> {
    await predict(() => {
      const chosen = choose();
      show(chosen.file);
      return send(chosen);
    });
  }

  onScopeDispose(() => show(null));
  return { answer, error, isBusy, sentShare, image, predictRow: predict, predictFile, cancel };
}

interface Sending {
  /** How much of a large file was sent, as a share; null while none is being sent. */
  sentShare: Readonly<Ref<number | null>>;
  /** @returns what the hub is to predict @throws Error if the file cannot be sent, or was cancelled */
  send: (chosen: ChosenFile) => Promise<SamplesToPredict>;
  /** Stops sending. */
  cancel: () => void;
}

/** Sends files to the hub while the component lives. */
function useSending(): Sending {
  const hub = useHub();
  const sentShare = ref<number | null>(null);
  let sending = new AbortController();

  async function send(chosen: ChosenFile): Promise<SamplesToPredict> {
    sending = new AbortController();
    const tell = (sentBytes: number): void => void (sentShare.value = sentBytes / chosen.file.size);
    try {
      return await sendFile(hub, chosen, { tell, signal: sending.signal });
    } finally {
      sentShare.value = null;
    }
  }

  const cancel = (): void => sending.abort(new Error('Sending was cancelled. Nothing was predicted.'));
  onScopeDispose(cancel);
  return { sentShare, send, cancel };
}
