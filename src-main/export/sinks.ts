import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { printableLine } from '../../core/text/printable.ts';
import { replaceFile } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';

/** A file of an export. */
export interface ExportEntry {
  /** Path in the export, with forward slashes. */
  path: string;
  /** Required for files above 4 GiB, because a ZIP needs the size beforehand. */
  sizeBytes?: number;
  /** False for weights, which hardly shrink. */
  compress: boolean;
  open: () => Readable;
}

/** The destination of an export. Entries are added one after the other. */
export interface ExportSink {
  add(entry: ExportEntry): Promise<void>;
  /** Resolves once the export is on the disk. */
  finish(): Promise<void>;
  /** Aborts the export. Removes a ZIP; complete files in a folder stay. */
  abort(reason: unknown): Promise<void>;
}

/**
 * Whether a path may be part of an export: relative, inside of it, and without characters that another system takes for
 * a separator or a terminal for a command.
 */
export function isSafePath(path: string): boolean {
  const parts = path.split('/');
  const isInside = parts.every((part) => part !== '' && part !== '.' && part !== '..');
  return isInside && !/[\\:]/.test(path) && printableLine(path) === path;
}

/** @throws Error if the folder is not empty and `overwrite` is not set */
export async function openFolderSink(folder: string, overwrite: boolean): Promise<ExportSink> {
  const present = await listFolder(folder);
  if (present.length > 0 && !overwrite) {
    throw new Error(
      `${folder} is not empty (it holds ${present.slice(0, 3).join(', ')}): an export needs a new or an empty ` +
        'folder. Choose another one, or allow it to overwrite files.',
    );
  }
  return {
    async add(entry) {
      refuseUnsafe(entry.path);
      const path = join(folder, entry.path);
      try {
        await makeFolder(dirname(path));
      } catch (error) {
        throw explainFileError(error, dirname(path), 'create');
      }
      await replaceFile(path, (handle) => handle.writeFile(entry.open()));
    },
    finish: () => Promise.resolve(),
    abort: () => Promise.resolve(),
  };
}

/** A ZIP, written aside and renamed once it is complete. @throws Error if the file exists and `overwrite` is not set */
export async function openZipSink(path: string, overwrite: boolean): Promise<ExportSink> {
  await refuseExisting(path, overwrite);
  const zip = new ZipFile();
  const output = new PassThrough();
  zip.outputStream.pipe(output);
  zip.on('error', (error: Error) => output.destroy(error));
  // `written` reports it. Before the file is open, nobody else listens, and the error would end the process.
  output.on('error', () => undefined);
  const written = replaceFile(path, (handle) => handle.writeFile(output));
  // The next `add` or `finish` throws the error. Until then it must not count as unhandled.
  written.catch(() => undefined);
  return {
    async add({ path, sizeBytes, compress, open }) {
      refuseUnsafe(path);
      const source = open();
      try {
        zip.addReadStreamLazy(path, { compress, ...(sizeBytes === undefined ? {} : { size: sizeBytes }) }, (take) =>
          take(null, source),
        );
        // If the disk is full, writing fails and the source is never read to its end.
        await Promise.race([finished(source), written]);
      } finally {
        source.destroy();
      }
    },
    async finish() {
      zip.end();
      await written;
    },
    async abort(reason) {
      output.destroy(reason instanceof Error ? reason : new Error(String(reason)));
      await written.catch(() => undefined);
    },
  };
}

function refuseUnsafe(path: string): void {
  if (!isSafePath(path)) throw new Error(`${JSON.stringify(path)} cannot be part of an export: it leads out of it.`);
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, folder, 'export to');
  }
}

async function refuseExisting(path: string, overwrite: boolean): Promise<void> {
  await makeFolder(dirname(path)).catch((error: unknown) => {
    throw explainFileError(error, dirname(path), 'create');
  });
  const existing = await stat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw explainFileError(error, path, 'export to');
  });
  if (existing?.isDirectory()) {
    throw new Error(`${path} is a folder, but a ZIP is one file. Name the file, such as ${join(path, 'run.zip')}.`);
  }
  if (existing !== null && !overwrite) {
    throw new Error(`${path} exists. Choose another name, or allow it to be overwritten.`);
  }
}
