import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { readRunRecord } from '../store/runs/run-folder.ts';
import type { SkippedFile } from './checkpoint-entries.ts';
import type { CheckpointKey } from '../../core/protocol/run/checkpoint-tasks.ts';
import { runEntries, usualFormats, type ExportFormat } from './run-entries.ts';
import { runFileEnding } from '../../core/protocol/pages/run-data.ts';
import { openFolderSink, openZipSink } from './sinks.ts';
import { asFullDisk, readFreeBytes } from '../../core/node/disk-room.ts';
import { FileError, folderFlags } from '../../core/node/file-error.ts';
import { folderBytes } from '../store/disk-space.ts';
import { formatBytes } from '../../core/text/numbers.ts';

export interface ExportOptions {
  /** A folder that is absent or empty, or the file of the ZIP. */
  to: string;
  zip: boolean;
  /** Default: those that need only the run's folder; `run` for a file with the ending `.tutti`. */
  formats?: readonly ExportFormat[];
  /** Default: all. */
  checkpoints?: readonly CheckpointKey[];
  /** The checkpoints of the format `ensemble`; by default the first usual ones that all members have. */
  set?: string | undefined;
  /** Replace existing files; other files in the folder stay. */
  overwrite?: boolean;
}

export interface ExportReport {
  to: string;
  /** Exported files, relative to `to`. */
  paths: string[];
  /** Checkpoints that are incomplete or damaged. */
  skipped: SkippedFile[];
  /** Possible differences from the time when the run trained, and damaged parts that were skipped. */
  warnings: string[];
}

/** Exports a run, even while it trains, into a folder or one ZIP. Layout: docs/formats.md. */
export async function exportRun(folder: string, options: ExportOptions): Promise<ExportReport> {
  const to = resolve(options.to);
  refuseInside(resolve(folder), to);
  const formats = options.formats ?? (to.endsWith(runFileEnding) ? (['run'] as const) : usualFormats);
  refusePart(to, formats);
  const record = await readRunRecord(folder);
  const openSink = options.zip ? openZipSink : openFolderSink;
  const sink = await openSink(to, options.overwrite ?? false);
  const report: ExportReport = { to, paths: [], skipped: [], warnings: [] };
  const tell = {
    skipped: (file: SkippedFile) => void report.skipped.push(file),
    warning: (message: string) => void report.warnings.push(message),
  };
  const { checkpoints = null, set } = options;
  const choice = { formats: new Set(formats), checkpoints, set };
  try {
    for await (const entry of runEntries(folder, record, choice, tell)) {
      await sink.add(entry);
      report.paths.push(entry.path);
    }
    await sink.finish();
  } catch (error) {
    await sink.abort(error);
    throw await explainExportError(error, folder, to);
  }
  return report;
}

/** The ending says that the file can be imported. */
function refusePart(to: string, formats: readonly ExportFormat[]): void {
  if (!to.endsWith(runFileEnding) || formats.includes('run')) return;
  throw new Error(
    `${to}: a file with the ending ${runFileEnding} holds a whole run. Add the format "run", or choose a name ` +
      'that ends in .zip.',
  );
}

function refuseInside(folder: string, to: string): void {
  const path = relative(folder, to);
  if (path.startsWith('..') || isAbsolute(path)) return;
  throw new Error(
    `${to} is in the run's own folder ${folder}, but an export must not change its run. Choose another folder.`,
  );
}

/**
 * Why an export failed, with the flag that names its place. A full disk also names the bytes that the export may take
 * and those that are free.
 * @param folder the run's folder
 * @param to the folder or ZIP of the export, of which an unfinished ZIP has been removed
 */
async function explainExportError(failure: unknown, folder: string, to: string): Promise<unknown> {
  if (!(failure instanceof FileError) || !failure.path.startsWith(dirname(to))) return failure;
  const full = asFullDisk(failure);
  if (full === null) return new Error(failure.message.replaceAll(folderFlags, '--to'), { cause: failure });
  const [takenBytes, freeBytes] = await Promise.all([folderBytes(folder), readFreeBytes(dirname(to))]);
  const reason = full.code === 'EDQUOT' ? "this user's disk quota is used up" : 'the disk is full';
  return new Error(
    `Cannot export to ${to}: ${reason} (${full.code}). An export of this run takes up to ` +
      `${formatBytes(takenBytes)}, and ${formatBytes(freeBytes)} are free there. Free some space, choose a place on ` +
      'another disk with --to (for exports from pages: TUTTI_HOME), or export fewer formats.',
    { cause: failure },
  );
}
