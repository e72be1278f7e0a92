import { maximumSampleBytes, type UploadEnding } from '../../core/protocol/pages/new-samples.ts';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';

export type UploadHub = Pick<HubApi, 'openUpload' | 'sendPart' | 'dropUpload'>;

export interface UploadProgress {
  /** Called with the bytes that were sent. */
  tell?: (sentBytes: number) => void;
  signal?: AbortSignal;
}

/**
 * Sends a file to the hub in parts, each once the hub has written the one before. Memory holds one part.
 * @param ending the file's kind; null: the hub keeps its name
 * @returns the name under which the hub keeps the file
 * @throws Error if the file has changed, the disk is full, or it was cancelled
 */
export async function sendInParts(
  hub: UploadHub,
  { ending, file }: { ending: UploadEnding | null; file: File },
  { tell, signal }: UploadProgress = {},
): Promise<string> {
  const kind = ending === null ? { name: file.name } : { ending };
  const upload = await hub.openUpload({ ...kind, bytes: file.size });
  try {
    for (let sent = 0; sent < file.size; sent += maximumSampleBytes) {
      signal?.throwIfAborted();
      const part = await bytesOf(file.slice(sent, sent + maximumSampleBytes));
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

export async function bytesOf(part: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await part.arrayBuffer());
}
