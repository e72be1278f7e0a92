import {
  imageEndings,
  maximumSampleBytes,
  type SampleEnding,
  sampleEndings,
  type SampleField,
  type SampleFile,
  type SampleForm,
} from '../../../../core/protocol/pages/new-samples.ts';
import { formatBytes } from '../../../../core/text/numbers.ts';

/** The endings of the files that an ensemble takes. */
export function endingsFor({ takesImages }: SampleForm): SampleEnding[] {
  const images: readonly string[] = imageEndings;
  return sampleEndings.filter((ending) => images.includes(ending) === takesImages || ending === 'npy');
}

/** A file that the reader chose, ready to be sent. @throws Error that says why it cannot be sent, and what to do */
export async function readSampleFile(file: File, form: SampleForm): Promise<SampleFile> {
  const endings = endingsFor(form);
  const last = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase();
  const ending = endings.find((one) => one === last);
  if (ending === undefined) {
    throw new Error(`${file.name} is not a file that this ensemble takes here. Choose one of ${endings.join(', ')}.`);
  }
  if (file.size === 0) throw new Error(`${file.name} is empty. Choose a file with at least one sample.`);
  if (file.size > maximumSampleBytes) {
    throw new Error(
      `${file.name} has ${formatBytes(file.size)}, and a page may send ${formatBytes(maximumSampleBytes)}. Predict it with \`npx tutti predict\`.`,
    );
  }
  return { ending, bytes: new Uint8Array(await file.arrayBuffer()) };
}

/**
 * A filled-in row as a file of one JSON line. An empty text is a missing value.
 * @throws Error that names the first field that must have a value, or a number
 */
export function rowFile(fields: readonly SampleField[], texts: Readonly<Record<string, string>>): SampleFile {
  const row = Object.fromEntries(fields.map((field) => [field.name, valueOf(field, texts[field.name] ?? '')]));
  return { ending: 'jsonl', bytes: new TextEncoder().encode(`${JSON.stringify(row)}\n`) };
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
