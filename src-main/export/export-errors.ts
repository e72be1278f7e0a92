import { dirname } from 'node:path';
import { asFullDisk, readFreeBytes } from '../../core/node/disk-room.ts';
import { FileError, folderFlags } from '../../core/node/file-error.ts';
import { folderBytes } from '../store/disk-space.ts';
import { formatBytes } from '../../core/text/numbers.ts';

/**
 * Why an export failed, with the flag that names its place. A full disk also names the bytes that the export may take and those that are free.
 * @param folder the run's folder
 * @param to the folder or ZIP of the export, of which an unfinished ZIP has been removed
 */
export async function explainExportError(failure: unknown, folder: string, to: string): Promise<unknown> {
  if (!(failure instanceof FileError) || !failure.path.startsWith(dirname(to))) return failure;
  const full = asFullDisk(failure);
  if (full === null) return new Error(failure.message.replaceAll(folderFlags, '--to'), { cause: failure });
  const [takenBytes, freeBytes] = await Promise.all([folderBytes(folder), readFreeBytes(dirname(to))]);
  const reason = full.code === 'EDQUOT' ? "this user's disk quota is used up" : 'the disk is full';
  return new Error(
    `Cannot export to ${to}: ${reason} (${full.code}). An export of this run takes up to ${formatBytes(takenBytes)}, and ${formatBytes(freeBytes)} are free ` +
      'there. Free some space, choose a place on another disk with --to (for exports from pages: TUTTI_HOME), or export fewer formats.',
    { cause: failure },
  );
}
