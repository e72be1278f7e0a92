import { runFileEnding } from './run-data.ts';
import { textDecoder } from '../../text/host.ts';
import { markOf } from '../../text/text-encoding.ts';
import { dataFormatOf, isOfSystem, isTableName } from '../../preprocessing/data-formats.ts';

/** What a file is that somebody opens or drops: a ZIP by the directory at its end, others by name and beginning. */
export type FileKind = 'run' | 'table';

/** Reads the bytes of a file from `start` to before `end`. */
export type ReadBytes = (start: number, end: number) => Promise<Uint8Array>;

/**
 * What a file is by its name: a table, maybe an exported run (`best.tutti`, or any ZIP); null: the name does not tell.
 */
export function namedKind(name: string): FileKind | null {
  if (isTableName(name)) return 'table';
  return [runFileEnding, '.zip'].some((ending) => name.toLowerCase().endsWith(ending)) ? 'run' : null;
}

/**
 * What a file is that somebody opens or drops. Text under any other name is a table, as it is for `readTable`:
 * `adult.data`, `adult.test`.
 * @returns null for neither; `run` also for a ZIP whose directory cannot be read: the import says what is wrong
 * @throws Error that names what else a ZIP holds, and the remedy
 */
export async function fileKind(name: string, bytes: number, read: ReadBytes): Promise<FileKind | null> {
  const named = namedKind(name);
  if (named === 'run') return exportOrTable(name, bytes, read);
  if (named !== null || dataFormatOf(name) !== null) return named;
  const beginning = await read(0, Math.min(bytes, beginningBytes));
  return markOf(beginning) !== null || !beginning.includes(0) ? 'table' : null;
}

async function exportOrTable(name: string, bytes: number, read: ReadBytes): Promise<FileKind> {
  if (!name.toLowerCase().endsWith('.zip')) return 'run';
  const paths = await zipPaths(bytes, read);
  if (paths === null || paths.some((path) => /^(?:[^/]+\/)?run\.json$/.test(path))) return 'run';
  const files = paths.filter((path) => !path.endsWith('/') && !path.split('/').some(isOfSystem));
  if (files.length === 1 && isTableName(files[0])) return 'table';
  throw new Error(
    `${name} holds ${files.length === 0 ? 'no file' : contentsText(files)}: it is no exported run, and a packed ` +
      `table would be its only file. ${remedyFor(files)}`,
  );
}

function remedyFor(files: readonly string[]): string {
  const isProject = (path: string): boolean => /(?:^|\/)project\.[cm]?[jt]s$/.test(path);
  if (files.some(isProject)) return 'Unpack it, and open the folder of its project.';
  if (files.some((path) => dataFormatOf(path)?.holds === 'image'))
    return 'Unpack it, and give the folder of its images.';
  if (files.some(isTableName)) return 'Unpack it, and give one of its tables.';
  return 'Tutti makes projects from tables and from folders of images, and imports what `tutti export` has written.';
}

/** `12 .jpg, 1 .csv (a/1.jpg, a/2.jpg, ...)` */
function contentsText(files: readonly string[]): string {
  const endings = Map.groupBy(files, (path) => /[^/](\.[^./]+)$/.exec(path)?.[1].toLowerCase() ?? 'without an ending');
  const counts = [...endings].map(([ending, { length }]) => `${length} ${ending}`);
  const listed = (texts: readonly string[]): string => texts.slice(0, 3).join(', ') + (texts.length > 3 ? ', ...' : '');
  return `${listed(counts)} (${listed(files)})`;
}

/** Other files than text have a byte 0 there. */
const beginningBytes = 4096;
const endBytes = 22;
const entryBytes = 46;
const mostCommentBytes = 65_535;

/**
 * The paths in a ZIP, folders with a slash at the end; null where its directory is not found, as in ZIP64.
 * Source: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.12 and 4.3.16.
 */
async function zipPaths(bytes: number, read: ReadBytes): Promise<string[] | null> {
  const tail = await read(Math.max(0, bytes - endBytes - mostCommentBytes), bytes);
  const view = viewOf(tail);
  for (let at = tail.length - endBytes; at >= 0; at -= 1) {
    if (view.getUint32(at, true) !== 0x06_05_4b_50) continue;
    const [length, start] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)];
    if (start + length <= bytes) return pathsOf(await read(start, start + length));
  }
  return null;
}

function pathsOf(directory: Uint8Array): string[] | null {
  const view = viewOf(directory);
  const paths: string[] = [];
  for (let at = 0; at < directory.length;) {
    if (at + entryBytes > directory.length || view.getUint32(at, true) !== 0x02_01_4b_50) return null;
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    paths.push(decoded(directory.subarray(at + entryBytes, at + entryBytes + name)));
    at += entryBytes + name + extra + comment;
  }
  return paths;
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length);

/** Old programs write names in the code page of their system. */
function decoded(name: Uint8Array): string {
  try {
    return textDecoder('utf-8').decode(name);
  } catch {
    return textDecoder('windows-1252').decode(name);
  }
}
