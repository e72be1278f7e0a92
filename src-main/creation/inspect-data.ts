import { realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { explainFileError } from '../../core/node/file-error.ts';
import { dataFormatOf, isOfSystem } from '../../core/preprocessing/data-formats.ts';
import {
  type FileProfile,
  fileProfileSchema,
  type InspectProgress,
  inspectProgressSchema,
  type InspectReply,
  type InspectTask,
} from '../../core/protocol/run/inspect-task.ts';
import { askProcess } from '../processes/ask-process.ts';
import { inspectEntry } from '../processes/node-process.ts';
import { grantFor } from '../trust/grant.ts';

/** A file of some hundred megabytes takes minutes. */
const timeoutMs = 3_600_000;

/**
 * What is in a file of data. It may be anybody's, so that the process that reads it can read nothing else, and write
 * nothing.
 * @param progress called with what is done; of a large file first with what its beginning shows
 * @throws Error that names file, place and value of what cannot be read
 */
export async function inspectData(
  task: InspectTask,
  { signal, progress }: { signal?: AbortSignal; progress?: (progress: InspectProgress) => void } = {},
): Promise<FileProfile> {
  const path = realPath(resolve(task.path));
  const reply = await askProcess<InspectReply>({
    entry: inspectEntry,
    args: [],
    grant: grantFor({ project: null, read: [path] }),
    message: { ...task, path } satisfies InspectTask,
    timeoutMs,
    ...(signal && { signal }),
    ...(progress && { progress: (message) => progress(inspectProgressSchema.parse(message)) }),
    subject: `${task.path} could not be inspected`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  return fileProfileSchema.parse(reply.profile);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}

/** Folders of splits that lie in folders of their names, and in them those of the classes: `seg_train/seg_train/2`. */
const mostDepth = 3;
/** Folders of a level that are looked into: those of splits and classes are alike. */
const mostTried = 8;

/** Whether a folder, or one below it, holds images. */
export async function holdsImages(folder: string, depth = 0): Promise<boolean> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !isOfSystem(name));
  if (entries.some((entry) => entry.isFile() && dataFormatOf(entry.name)?.holds === 'image')) return true;
  const folders = depth === mostDepth ? [] : entries.filter((entry) => entry.isDirectory()).slice(0, mostTried);
  const found = await Promise.all(folders.map(({ name }) => holdsImages(join(folder, name), depth + 1)));
  return found.includes(true);
}
