import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { ASIDE_ENDING, DELETED_ENDING } from '../../core/node/atomic-file.ts';
import { explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { openOwnFile, unlessForeign } from '../../core/node/own-files.ts';
import { listOwnFolder, type OwnEntry } from '../../core/node/own-folders.ts';
import type { SkippedFile } from './checkpoint-entries.ts';
import { type ExportEntry, isSafePath } from './sinks.ts';

const passingEndings = [ASIDE_ENDING, DELETED_ENDING];

/** Called for each entry that is not exported. */
export type Skip = (file: SkippedFile) => void;

/**
 * Files of the run's folder, as they are or with their lines changed. Skips those that do not exist, and passes entries
 * that are no files of the folder to `skip`.
 */
export async function* fileEntries(
  folder: string,
  paths: readonly string[],
  skip: Skip,
  change?: (lines: AsyncIterable<string>) => AsyncIterable<string>,
): AsyncGenerator<ExportEntry> {
  for (const path of paths) {
    const handle = await openIfOwn(folder, path, skip);
    if (handle === null) continue;
    const read = () => readPieces(handle, join(folder, path));
    const readChanged = () => change?.(createInterface({ input: Readable.from(read()), crlfDelay: Infinity }));
    yield { path, ...(await packingOf(path, handle)), open: () => Readable.from(readChanged() ?? read()) };
  }
}

/** Tensors hardly shrink, and may be large. */
async function packingOf(path: string, handle: FileHandle): Promise<Pick<ExportEntry, 'compress' | 'sizeBytes'>> {
  if (!path.endsWith('.safetensors')) return { compress: true };
  return { compress: false, sizeBytes: (await handle.stat()).size };
}

/** Whether the run's folder has this file. Passes an entry that is no file of the folder to `skip`. */
export async function hasOwnFile(folder: string, path: string, skip: Skip): Promise<boolean> {
  const handle = await openIfOwn(folder, path, skip);
  await handle?.close();
  return handle !== null;
}

/** Subfolders of a run whose files are exported as they are. */
type ListedFolder =
  'checkpoints' | 'postprocessing' | 'logs' | 'plots' | 'models' | 'state' | 'predictions' | 'sources' | 'origin';

/**
 * Files in a subfolder of the run, relative to the run, sorted; none if it does not exist. Passes entries that cannot
 * be exported to `skip`.
 */
export async function listFiles(folder: string, name: ListedFolder, skip: Skip): Promise<string[]> {
  const entries = (await unlessSkipped(listOwnFolder(folder, name, { isDeep: true }), skip)) ?? [];
  const isPassing = (entry: OwnEntry): boolean => passingEndings.some((ending) => entry.name.endsWith(ending));
  for (const { path, kind } of entries) {
    if (kind === 'folder' && /\.(json|safetensors|log|svg|png)$/.test(path)) skip({ path, reason: 'it is a folder' });
  }
  return entries
    .filter((entry) => entry.kind !== 'folder' && !isPassing(entry))
    .map(({ path }) => path)
    .filter((path) => isExportable(path, skip));
}

function isExportable(path: string, skip: Skip): boolean {
  const isSafe = isSafePath(path);
  if (!isSafe) skip({ path, reason: 'its name has characters that are not safe in other systems' });
  return isSafe;
}

function openIfOwn(folder: string, path: string, skip: Skip): Promise<FileHandle | null> {
  return unlessSkipped(unlessMissing(openOwnFile(folder, path)), skip);
}

/** What was opened; null for an entry that is not the run's own, which is passed to `skip`. */
export function unlessSkipped<T>(opened: Promise<T>, skip: Skip): Promise<T | null> {
  return unlessForeign(opened, ({ path, reason }) => skip({ path, reason }));
}

/** Reads a file. An error names this file, not the one that is written. */
async function* readPieces(handle: FileHandle, path: string): AsyncGenerator<Buffer> {
  try {
    yield* handle.createReadStream({ start: 0 });
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}
