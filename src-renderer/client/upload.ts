import { maximumSampleBytes, type UploadEnding } from '../../core/protocol/pages/new-samples.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';

export type UploadHub = Pick<HubApi, 'openUpload' | 'sendPart' | 'dropUpload'>;

export interface UploadProgress {
  /** Called with the bytes that were sent. */
  tell?: (sentBytes: number) => void;
  signal?: AbortSignal;
}

/** A folder that the user dropped or chose. A browser reveals its files, not where it lies. */
export interface ChosenFolder {
  name: string;
  /** Each with its path in the folder. */
  files: readonly { path: string; file: File }[];
}

/**
 * Sends a file or a folder to the hub in parts, each once the hub has written the one before. Memory holds one part.
 * @param chosen a folder, or a file with the ending that says its kind; null: the hub keeps its name
 * @returns the name under which the hub keeps the file
 * @throws Error if the file has changed, the disk is full, or it was cancelled
 */
export async function sendInParts(
  hub: UploadHub,
  chosen: { ending: UploadEnding | null; file: File } | ChosenFolder,
  { tell, signal }: UploadProgress = {},
): Promise<string> {
  // The files of a folder one after the other: this reads none of them.
  const content = 'files' in chosen ? new Blob(chosen.files.map(({ file }) => file)) : chosen.file;
  const upload = await hub.openUpload({ ...requestOf(chosen), bytes: content.size });
  try {
    for (let sent = 0; sent < content.size; sent += maximumSampleBytes) {
      signal?.throwIfAborted();
      const part = await bytesOf(content.slice(sent, sent + maximumSampleBytes));
      await hub.sendPart(upload, part);
      tell?.(sent + part.length);
    }
    signal?.throwIfAborted();
    return upload;
  } catch (error) {
    await hub.dropUpload(upload);
    throw error;
  }
}

function requestOf(chosen: Parameters<typeof sendInParts>[1]) {
  if (!('files' in chosen)) return chosen.ending === null ? { name: chosen.file.name } : { ending: chosen.ending };
  return { name: chosen.name, files: chosen.files.map(({ path, file }) => ({ path, bytes: file.size })) };
}

export async function bytesOf(part: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await part.arrayBuffer());
}
