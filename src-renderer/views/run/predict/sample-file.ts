import { type SampleEnding, sampleEndingsFor } from '../../../../core/preprocessing/data-formats.ts';
import {
  maximumSampleBytes,
  maximumUploadBytes,
  type SampleField,
  type SampleFile,
  type SampleForm,
  type SamplePredictions,
  type SamplesToPredict,
} from '../../../../core/protocol/pages/new-samples.ts';
import { formatBytes } from '../../../../core/text/numbers.ts';
import { bytesOf, sendInParts, type UploadHub, type UploadProgress } from '../../../client/upload.ts';
import { onScopeDispose, type Ref, ref, shallowRef } from 'vue';
import { useHub } from '../../../client/use-hub.ts';
import { useAction } from '../../../composables/use-action.ts';

/** A file that the reader chose, and its kind. */
interface ChosenFile {
  ending: SampleEnding;
  file: File;
}

/** Checks a file before anything of it is read. @throws Error that says why it cannot be sent, and what to do */
export function chooseFile(file: File, form: SampleForm): ChosenFile {
  const endings = sampleEndingsFor(form);
  const last = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase();
  const ending = endings.find((one) => one === last);
  if (ending === undefined) {
    throw new Error(`${file.name} is not a file that this ensemble takes here. Choose one of ${endings.join(', ')}.`);
  }
  if (file.size === 0) throw new Error(`${file.name} is empty. Choose a file with at least one sample.`);
  if (file.size > maximumUploadBytes) {
    throw new Error(
      `${file.name} has ${formatBytes(file.size)}, and a page sends at most ` +
        `${formatBytes(maximumUploadBytes)}. Predict it with \`tutti predict\`, which needs no copy.`,
    );
  }
  return { ending, file };
}

/**
 * Sends a file to the hub: a small one with the question itself, a larger one before it in parts.
 * @param tell called with the bytes that were sent
 * @throws Error if the file has changed, the disk is full, or it was cancelled
 */
export async function sendFile(
  hub: UploadHub,
  { ending, file }: ChosenFile,
  progress: UploadProgress,
): Promise<SamplesToPredict> {
  if (file.size <= maximumSampleBytes) return { ending, bytes: await bytesOf(file) };
  return { upload: await sendInParts(hub, { ending, file }, progress) };
}

/**
 * A filled-in row as a file of one JSON line. An empty text is a missing value.
 * @throws Error that names the first field that must have a value, or a number
 */
export function rowFile(fields: readonly SampleField[], texts: Readonly<Record<string, string>>): SampleFile {
  const row = Object.fromEntries(fields.map((field) => [field.name, valueOf(field, texts[field.name] ?? '')]));
  return { ending: 'jsonl', bytes: new TextEncoder().encode(`${JSON.stringify(row)}\n`) };
}

/** A typed or pasted table as a file. */
export function tableFile(text: string): SampleFile {
  return { ending: 'csv', bytes: new TextEncoder().encode(`${text.trim()}\n`) };
}

function valueOf({ name, type, isOptional }: SampleField, text: string): string | number | boolean | null {
  if (text.trim() === '') {
    if (isOptional) return null;
    throw new Error(`"${name}" has no value, and the training data had no missing ones. Fill it in.`);
  }
  if (type === 'boolean') return text === 'true';
  if (type !== 'number') return text;
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new Error(`"${name}" is "${text}", which is not a number. Give a number such as 1.5.`);
}

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
