import { realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
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
import { askProcess } from '../processes/standing-process.ts';
import { inspectEntry } from '../processes/node-process.ts';
import { grantFor } from '../trust/grant.ts';

/** A file of some hundred megabytes takes minutes. */
const timeoutMs = 3_600_000;

interface InspectOptions {
  signal?: AbortSignal | undefined;
  progress?: ((progress: InspectProgress) => void) | undefined;
}

/**
 * What is in a file of data. It may be anybody's, so that the process that reads it can read nothing else, apart from
 * the folder of the images that a table names, and write nothing.
 * @param progress called with what is done; of a large file first with what its beginning shows
 * @throws Error that names file, place and value of what cannot be read
 */
export async function inspectData(task: InspectTask, { signal, progress }: InspectOptions = {}): Promise<FileProfile> {
  const path = realPath(resolve(task.path));
  const { images } = task.reading;
  const own = {
    ...task,
    path,
    ...(images !== undefined && { reading: { ...task.reading, images: realPath(images) } }),
  };
  const profile = await askInspector(own, { signal, progress });
  const namesImages =
    profile.kind === 'table' &&
    (task.image !== undefined || profile.findings.some(({ kind }) => kind === 'image-names'));
  if (!namesImages || images !== undefined) return profile;
  // Only then does the process need to see what lies beside the table.
  return askInspector({ ...own, reading: { ...task.reading, images: dirname(path) } }, { signal, progress });
}

async function askInspector(task: InspectTask, { signal, progress }: InspectOptions): Promise<FileProfile> {
  const { images } = task.reading;
  const reply = await askProcess<InspectReply>({
    entry: inspectEntry,
    args: [],
    grant: grantFor({ project: null, read: readPaths(task.path, images) }),
    message: task,
    timeoutMs,
    ...(signal && { signal }),
    ...(progress && { progress: (message) => progress(inspectProgressSchema.parse(message)) }),
    subject: `${task.path} could not be inspected`,
  });
  if (reply.type === 'failed') throw new Error(reply.message);
  return fileProfileSchema.parse(reply.profile);
}

/** Node takes a file beside its own folder for the only one of the folder that may be read. */
function readPaths(path: string, images: string | undefined): string[] {
  if (images === undefined) return [path];
  return path.startsWith(images + sep) ? [images] : [path, images];
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
