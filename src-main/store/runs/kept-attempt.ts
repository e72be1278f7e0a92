import { constants, existsSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { ownSummary, type RunRecord } from '../../../core/protocol/run/record.ts';
import { ASIDE_ENDING, writeFlushed, renameOver } from '../../../core/node/atomic-file.ts';
import { flushFolder } from '../../../core/node/flush-folder.ts';
import { errorCode, explainFileError, unlessMissing } from '../../../core/node/file-error.ts';
import { runPaths } from './run-folder.ts';

/** Files that a run replaces by renaming others, so that a second name (a hard link) keeps the old content without more space. */
const replacedFiles = [
  /^checkpoints\/rank-\d+\/(ensemble-best|member-best|final)\.(json|safetensors)$/,
  /^state\/rank-\d+\/round-\d+\.(json|safetensors)$/,
  /^predictions\/.+\.safetensors$/,
  /^plots\/[^/]+\.(svg|png)$/,
];

/** The folder with what an attempt left when it ended, which later attempts do not change. */
export function keptAttemptFolder(folder: string, attempt: number): string {
  return join(folder, 'attempts', String(attempt));
}

/**
 * Keeps the results of the last attempt before a resume replaces them, if it ended with a summary: record, metrics, best and last
 * checkpoints, states, predictions and figures. An attempt that is kept already stays as it is.
 */
export async function keepEndedAttempt(folder: string, record: RunRecord): Promise<void> {
  const target = keptAttemptFolder(folder, record.attempts.length);
  if (ownSummary(record) === null || existsSync(target)) return;
  const aside = `${target}${ASIDE_ENDING}`;
  try {
    await rm(aside, { recursive: true, force: true });
    await mkdir(aside, { recursive: true });
    await writeFlushed(join(aside, 'run.json'), `${toJson(record, 2)}\n`);
    const { metrics } = runPaths(folder);
    await unlessMissing(copyFile(metrics, join(aside, basename(metrics)), constants.COPYFILE_FICLONE));
    for (const path of await filesToKeep(folder)) await linkOrCopy(join(folder, path), join(aside, path));
    await renameOver(aside, target);
    await flushFolder(dirname(target));
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw explainFileError(error, target, 'keep the results of the attempt in');
  }
}

async function filesToKeep(folder: string): Promise<string[]> {
  const lists = ['checkpoints', 'state', 'predictions', 'plots'].map(async (name) => {
    const root = join(folder, name);
    const entries = (await unlessMissing(readdir(root, { recursive: true, withFileTypes: true }))) ?? [];
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  });
  const paths = (await Promise.all(lists)).flat();
  return paths.filter((path) => replacedFiles.some((pattern) => pattern.test(path.replaceAll('\\', '/'))));
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await link(from, to).catch(async (error: unknown) => {
    // Some file systems (exFAT, some network shares) have no hard links.
    if (errorCode(error) === 'ENOENT') throw error;
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  });
}
