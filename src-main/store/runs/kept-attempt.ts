import { existsSync } from 'node:fs';
import { link } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { ownSummary, type RunRecord } from '../../../core/protocol/run/record.ts';
import { ASIDE_ENDING, renameOver } from '../../../core/node/atomic-file.ts';
import { flushFolder } from '../../../core/node/make-folder.ts';
import { errorCode, explainFileError, unlessMissing } from '../../../core/node/file-error.ts';
import { copyOwnFile, listOwnFolder, makeOwnFolder, removeOwn, writeOwnFile } from '../../../core/node/own-folders.ts';
import { workerParts } from './run-folder.ts';

/**
 * Files that a run replaces by renaming others, so that a second name (a hard link) keeps the old content without more
 * space.
 */
const replacedFiles = [
  /^checkpoints\/rank-\d+\/(ensemble-best|member-best|final)\.(json|safetensors)$/,
  /^state\/rank-\d+\/round-\d+\.(json|safetensors)$/,
  /^predictions\/.+\.safetensors$/,
  /^plots\/[^/]+\.(svg|png)$/,
];

/** The folder with what an attempt left when it ended, which later attempts do not change. */
export function keptAttemptFolder(folder: string, attempt: number): string {
  return join(folder, keptAttemptPath(attempt));
}

function keptAttemptPath(attempt: number): string {
  return join('attempts', String(attempt));
}

/**
 * Keeps the results of the last attempt before a resume replaces them, if it ended with a summary: record, metrics,
 * best and last checkpoints, states, predictions and figures. An attempt that is kept already stays as it is.
 */
export async function keepEndedAttempt(folder: string, record: RunRecord): Promise<void> {
  const own = keptAttemptPath(record.attempts.length);
  const target = join(folder, own);
  if (ownSummary(record) === null || existsSync(target)) return;
  const aside = `${own}${ASIDE_ENDING}`;
  const into = join(folder, aside);
  try {
    await removeOwn(folder, aside);
    await makeOwnFolder(folder, aside);
    await writeOwnFile(into, 'run.json', `${toJson(record, 2)}\n`);
    await unlessMissing(copyOwnFile(folder, 'metrics.csv', { folder: into, path: 'metrics.csv' }));
    for (const path of await filesToKeep(folder)) await linkOrCopy(folder, path, into);
    await renameOver(into, target);
    await flushFolder(dirname(target));
  } catch (error) {
    await removeOwn(folder, aside);
    throw explainFileError(error, target, 'keep the results of the attempt in');
  }
}

async function filesToKeep(folder: string): Promise<string[]> {
  const lists = workerParts.map((name) => listOwnFolder(folder, name, { isDeep: true }));
  const files = (await Promise.all(lists)).flat().filter(({ kind }) => kind === 'file');
  return files.map(({ path }) => path).filter((path) => replacedFiles.some((pattern) => pattern.test(path)));
}

/** A second name does not follow a link: it would name the link itself, which nobody follows later. */
async function linkOrCopy(folder: string, path: string, into: string): Promise<void> {
  await makeOwnFolder(into, dirname(path));
  await link(join(folder, path), join(into, path)).catch(async (error: unknown) => {
    // Some file systems (exFAT, some network shares) have no hard links.
    if (errorCode(error) === 'ENOENT') throw error;
    await copyOwnFile(folder, path, { folder: into, path });
  });
}
