import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { explainFileError } from '../../core/node/file-error.ts';
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
