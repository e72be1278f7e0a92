import { stat } from 'node:fs/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { explainFileError } from '../../core/node/file-error.ts';
import { messageOf } from '../../core/text/errors.ts';
import { formatBytes } from '../../core/text/numbers.ts';
import { printableLine } from '../../core/text/printable.ts';
import { isSafePath } from '../export/sinks.ts';
import { ASIDE_ENDING, DELETED_ENDING } from '../../core/node/atomic-file.ts';
import { labelsFile } from '../../core/protocol/run/pool-task.ts';

/** The files of a run in a ZIP that somebody else may have made. */
export interface RunArchive {
  zip: ZipFile;
  /** The files by their paths in the run's folder. */
  files: ReadonlyMap<string, Entry>;
  /** Their size after unpacking. */
  bytes: number;
  /** Files that belong to no run, such as exports to other formats. */
  leftOut: string[];
}

interface ArchiveLimits {
  files: number;
  /** How many times larger than the ZIP its files may be, if they are larger than `smallBytes`. */
  ratio: number;
  smallBytes: number;
}

/**
 * A run of 64 ranks and 100 kept checkpoints has some 40,000 files. Text of metrics and logs shrinks to a tenth, seldom
 * to a fiftieth.
 */
const archiveLimits: ArchiveLimits = { files: 500_000, ratio: 200, smallBytes: 2 ** 28 };

/**
 * Opens a ZIP that holds a run: an export, or a packed run folder. Looks at its directory only.
 * @param name of the file in errors
 * @throws Error that names the file and what is wrong: it is no ZIP, holds no run, leads out of its folder, or would
 * unpack to far more than it is
 */
export async function openRunArchive(path: string, name = path, limits = archiveLimits): Promise<RunArchive> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw explainFileError(error, path, 'import');
  });
  const zip = await openPromise(path, { autoClose: false, strictFileNames: true }).catch((cause: unknown) => {
    throw refusal(name, `it is no ZIP, or not whole (${messageOf(cause)}). Copy or download it again.`, cause);
  });
  try {
    return chooseFiles(zip, await readDirectory(zip, limits), size, limits);
  } catch (error) {
    zip.close();
    throw error instanceof ArchiveError ? refusal(name, error.message, error) : error;
  }
}

/** What is wrong with a ZIP, without its name. */
class ArchiveError extends Error {}

function refusal(name: string, problem: string, cause: unknown): Error {
  return new Error(`${name} cannot be imported: ${problem}`, { cause });
}

async function readDirectory(zip: ZipFile, limits: ArchiveLimits): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      checkEntry(entry);
      if (!entry.fileName.endsWith('/')) entries.push(entry);
      if (entries.length > limits.files)
        throw new ArchiveError(`it has more than ${limits.files} files, which no run has.`);
    }
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    // Also for paths that lead out of the folder.
    throw new ArchiveError(`its directory is damaged or not safe (${printableLine(messageOf(error))}).`, {
      cause: error,
    });
  }
  refuseTwins(entries);
  return entries;
}

const typeMask = 0o170000;
const regularFile = 0o100000;

function checkEntry(entry: Entry): void {
  const { fileName } = entry;
  const name = JSON.stringify(fileName);
  if (!isSafePath(fileName.replace(/\/$/, '')))
    throw new ArchiveError(`the name ${name} leads out of its folder, or has characters that are not safe.`);
  if (fileName.endsWith('/')) return;
  const type = (entry.externalFileAttributes >>> 16) & typeMask;
  if (type !== 0 && type !== regularFile) throw new ArchiveError(`${name} is a link or a device, not a file.`);
  if (!entry.canDecodeFileData()) throw new ArchiveError(`${name} is encrypted, or packed in an unusual way.`);
}

/** Two entries of one name would overwrite each other, also where the disk ignores the case of letters. */
function refuseTwins(entries: readonly Entry[]): void {
  const names = new Set<string>();
  for (const { fileName } of entries) {
    const name = fileName.toLowerCase();
    if (names.has(name)) throw new ArchiveError(`it has several files with the name ${JSON.stringify(fileName)}.`);
    names.add(name);
  }
}

function chooseFiles(zip: ZipFile, entries: readonly Entry[], size: number, limits: ArchiveLimits): RunArchive {
  const records = entries.map(({ fileName }) => fileName).filter((name) => /^([^/]+\/)?run\.json$/.test(name));
  const record = records.find((name) => name === 'run.json') ?? records[0];
  if (record === undefined || (record !== 'run.json' && records.length > 1)) {
    throw new ArchiveError(
      'it holds no run, because it has no run.json. Export the run with `tutti export <run> --to run.tutti`.',
    );
  }
  const folder = record.slice(0, -'run.json'.length);
  const files = new Map<string, Entry>();
  const leftOut: string[] = [];
  for (const entry of entries) {
    const isInside = entry.fileName.startsWith(folder);
    const inside = entry.fileName.slice(folder.length);
    if (isInside && isRunPath(inside)) files.set(inside, entry);
    else leftOut.push(entry.fileName);
  }
  const bytes = [...files.values()].reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  if (bytes > limits.smallBytes && bytes > limits.ratio * size) {
    throw new ArchiveError(
      `its ${formatBytes(size)} would unpack to ${formatBytes(bytes)}, more than ${limits.ratio} times as much, ` +
        'which no run does. If it is yours, unpack it and open its folder instead.',
    );
  }
  return { zip, files, bytes, leftOut };
}

const files = new Set([
  'run.json',
  'notes.json',
  'metrics.csv',
  'events.jsonl',
  'devices.csv',
  'preprocessing.json',
  labelsFile,
]);
const folders = new Set([
  'logs',
  'checkpoints',
  'models',
  'state',
  'predictions',
  'postprocessing',
  'plots',
  'sources',
  'attempts',
  'origin',
]);

/**
 * Whether a file with this path, with forward slashes, belongs to a run's folder (docs/formats.md). Locks and caches do
 * not travel.
 */
export function isRunPath(path: string): boolean {
  if ([ASIDE_ENDING, DELETED_ENDING].some((ending) => path.endsWith(ending))) return false;
  const [first, ...rest] = path.split('/');
  if (rest.length > 0) return folders.has(first);
  return files.has(first) || /^metrics\.attempt-\d+\.csv$/.test(first);
}
