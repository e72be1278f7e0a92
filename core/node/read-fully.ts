import type { FileHandle } from 'node:fs/promises';

/**
 * Fills `target` with the bytes of a file from `position` on. The system may return fewer bytes than requested, so one call
 * of `read` is not enough.
 * @returns the bytes read: fewer than `target` has only where the file ends before
 */
export async function readFully(handle: FileHandle, target: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < target.byteLength) {
    const { bytesRead } = await handle.read(target, done, target.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}
