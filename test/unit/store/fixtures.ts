import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** No process has this id: Linux assigns at most 2^22. */
export const DEAD_PID = 2 ** 30;

/** An empty folder, removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A server that accepts connections on a socket in `folder`, like a living hub, until the test ends. */
export async function listeningSocket(folder: string): Promise<string> {
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\tutti-test-${process.pid}` : join(folder, 'hub.sock');
  const server: Server = createServer((socket) => socket.destroy());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(path, resolve);
  await promise;
  onTestFinished(async () => {
    const closed = Promise.withResolvers<void>();
    server.close(() => closed.resolve());
    await closed.promise;
  });
  return path;
}
