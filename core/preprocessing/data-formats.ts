/**
 * The kinds of files that samples are read from: every place that lists, sends or reads such files asks this table. The
 * readers are in `workers/data/tables/table-readers.ts` and `workers/data/read-arrays.ts`, one for each format.
 */

/** A kind of file. */
interface DataFormat {
  name: string;
  /** Endings of its files without the point. */
  endings: readonly [string, ...string[]];
  /** A text has one sample a line, and a file of an image is one sample. */
  holds: 'table' | 'text' | 'arrays' | 'image';
  /** Whether a page may send such files. */
  isSentByPages: boolean;
}

export const dataFormats = [
  { name: 'CSV', endings: ['csv'], holds: 'table', isSentByPages: true },
  { name: 'TSV', endings: ['tsv'], holds: 'table', isSentByPages: true },
  { name: 'Excel', endings: ['xlsx', 'xlsm'], holds: 'table', isSentByPages: true },
  { name: 'JSON lines', endings: ['jsonl', 'ndjson'], holds: 'table', isSentByPages: true },
  { name: 'JSON', endings: ['json'], holds: 'table', isSentByPages: true },
  { name: 'Parquet', endings: ['parquet'], holds: 'table', isSentByPages: false },
  { name: 'Arrow', endings: ['arrow', 'feather'], holds: 'table', isSentByPages: false },
  { name: 'lines', endings: ['txt'], holds: 'text', isSentByPages: true },
  { name: 'NumPy array', endings: ['npy'], holds: 'arrays', isSentByPages: true },
  { name: 'NumPy arrays', endings: ['npz'], holds: 'arrays', isSentByPages: false },
  { name: 'safetensors', endings: ['safetensors'], holds: 'arrays', isSentByPages: false },
  { name: 'PNG', endings: ['png'], holds: 'image', isSentByPages: true },
  { name: 'JPEG', endings: ['jpg', 'jpeg'], holds: 'image', isSentByPages: true },
  { name: 'WebP', endings: ['webp'], holds: 'image', isSentByPages: true },
  { name: 'TIFF', endings: ['tif', 'tiff'], holds: 'image', isSentByPages: true },
] as const satisfies readonly DataFormat[];

type KnownFormat = (typeof dataFormats)[number];
type Holding<Content extends DataFormat['holds']> = Extract<KnownFormat, { holds: Content }>;
/** Formats that are read as tables: also texts, whose only column is the text. */
export type TableFormat = Holding<'table' | 'text'>['name'];
export type ArrayFormat = Holding<'arrays'>['name'];

type SentFormat = Extract<KnownFormat, { isSentByPages: true }>;
/** Ending of a file that a page may send. */
export type SampleEnding = SentFormat['endings'][number];

const sentFormats = dataFormats.filter((format): format is SentFormat => format.isSentByPages);
export const sampleEndings: readonly SampleEnding[] = sentFormats.flatMap(({ endings }): SampleEnding[] => [
  ...endings,
]);

/** Endings of the files that a page may send to an ensemble of images, or to another one. */
export function sampleEndingsFor({ takesImages }: { takesImages: boolean }): SampleEnding[] {
  return sentFormats
    .filter(({ holds }) => holds === 'arrays' || (holds === 'image') === takesImages)
    .flatMap(({ endings }): SampleEnding[] => [...endings]);
}

/** The format of a file, by its ending in any case; null: none of the table's. */
export function dataFormatOf(file: string): KnownFormat | null {
  const ending = /[^/\\]\.([^./\\]+)$/.exec(file)?.[1].toLowerCase() ?? '';
  const isOwn = (own: string) => own === ending;
  return dataFormats.find(({ endings }) => endings.some(isOwn)) ?? null;
}

/** Whether a file's name is that of a table, which may be packed: `houses.csv`, `houses.csv.gz`. */
export function isTableName(name: string): boolean {
  return dataFormatOf(name.replace(/\.(gz|zip)$/i, ''))?.holds === 'table';
}

/** Whether a system keeps a file or folder for itself: `.DS_Store`, `Thumbs.db`, and all of `__MACOSX` in archives. */
export function isOfSystem(name: string): boolean {
  return name.startsWith('.') || /^(?:__macosx|thumbs\.db|desktop\.ini)$/i.test(name);
}

/** Names of the formats with a content: `['PNG', 'JPEG', ...]`. */
export function formatsWith(holds: DataFormat['holds']): string[] {
  return dataFormats.filter((format) => format.holds === holds).map(({ name }) => name);
}

/** Endings of the files with a content, with the point: `['.npy', '.npz', ...]`. */
export function endingsWith(holds: DataFormat['holds']): string[] {
  return dataFormats
    .filter((format) => format.holds === holds)
    .flatMap(({ endings }) => endings.map((own) => `.${own}`));
}
