import { setTimeout as delay } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { renameOver } from '../../../core/node/atomic-file.ts';
import { byteCount, reasonOf, sizeOf } from './files.ts';
import { TimeLimit } from '../../../core/node/time-limit.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { FileLock } from '../../../core/node/file-lock.ts';

/** A file for download. */
export interface RemoteFile {
  /** File name in the folder. */
  name: string;
  /** Official addresses, tried in this order. */
  urls: readonly string[];
  /** Lower-case hexadecimal SHA-256 of the content. */
  sha256: string;
  /** Size in bytes. */
  bytes: number;
}

/** Progress of a download. */
export interface DownloadProgress {
  /** Name of the file. */
  name: string;
  /** Bytes received so far, including those of earlier calls. */
  receivedBytes: number;
  /** Size of the file. */
  totalBytes: number;
}

/** How to download. */
export interface DownloadOptions {
  /** Called while bytes arrive. */
  onProgress?: (progress: DownloadProgress) => void;
  /** Aborts the download. */
  signal?: AbortSignal;
  /** Timeout in ms for a silent server, before its answer or during it. */
  silenceMs?: number;
}

/** Requests to one address in one call; each must get further than the previous one. */
const maximumRequests = 20;

/**
 * Downloads a file into `folder` and returns its path. An existing file is left unchanged. Bytes go to `<name>.part`,
 * which a later call resumes after a cut connection; the file is renamed once its SHA-256 matches. Processes that
 * download the same file wait for the first, by the lock of the empty file `.<name>.lock`, which stays.
 *
 * @throws Error with one line per address when no address returned the file.
 */
export async function fetchFile(file: RemoteFile & { folder: string }, options: DownloadOptions = {}): Promise<string> {
  const path = join(file.folder, file.name);
  if ((await sizeOf(path)) !== null) return path;
  await mkdir(file.folder, { recursive: true });
  await withLock(join(file.folder, `.${file.name}.lock`), options.signal, async () => {
    if ((await sizeOf(path)) === null) await download(file, path, options);
  });
  return path;
}

async function download(file: RemoteFile, path: string, options: DownloadOptions): Promise<void> {
  const part = `${path}.part`;
  const failures: string[] = [];
  for (const url of file.urls) {
    try {
      await receiveVerified(url, file, part, options);
      await renameOver(part, path);
      await discard(part);
      return;
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push(`  ${url}: ${reasonOf(error)}`);
    }
  }
  throw new Error(`${file.name} could not be downloaded:\n${failures.join('\n')}`);
}

async function receiveVerified(url: string, file: RemoteFile, part: string, options: DownloadOptions): Promise<void> {
  const resumed = (await sizeOf(part)) !== null;
  await receiveAll(url, file, part, options);
  const sha256 = await sha256Of(part);
  if (sha256 === file.sha256) return;
  await discard(part);
  if (!resumed) {
    throw new Error(`its SHA-256 is ${sha256}, expected ${file.sha256}; what was received has been deleted`);
  }
  // The resumed part may have been from another version of the file: download all of it.
  await receiveVerified(url, file, part, options);
}

/** Repeats the request after a cut connection as long as every answer adds bytes. */
async function receiveAll(url: string, file: RemoteFile, part: string, options: DownloadOptions): Promise<void> {
  for (let request = 1; ; request++) {
    const before = (await sizeOf(part)) ?? 0;
    if (before === file.bytes) return;
    if (before > file.bytes) await discard(part);
    try {
      await receive(url, file, part, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const after = (await sizeOf(part)) ?? 0;
      if (after <= before || request === maximumRequests) throw error;
    }
  }
}

async function receive(url: string, file: RemoteFile, part: string, options: DownloadOptions): Promise<void> {
  const { signal, silenceMs = 30_000 } = options;
  const connection = new AbortController();
  const silence = new TimeLimit(silenceMs, () =>
    connection.abort(new Error(`the server was silent for ${silenceMs} ms`)),
  );
  try {
    const offset = (await sizeOf(part)) ?? 0;
    const response = await fetch(url, {
      headers: { 'accept-encoding': 'identity', ...(await rangeHeaders(part, offset)) },
      signal: signal ? AbortSignal.any([signal, connection.signal]) : connection.signal,
    });
    const start = acceptedStart(response, offset, file);
    if (response.body === null) throw new Error('its answer has no content');
    if (start === 0) await keepValidator(part, response);
    await store(response.body, part, start, file, (receivedBytes) => {
      silence.restart();
      options.onProgress?.({ name: file.name, receivedBytes, totalBytes: file.bytes });
    });
  } finally {
    silence.stop();
    connection.abort();
  }
}

/** Writes by position: if two processes ever write at the same time, both write the same bytes to the same place. */
async function store(
  chunks: AsyncIterable<Uint8Array>,
  part: string,
  start: number,
  file: RemoteFile,
  onReceived: (bytes: number) => void,
): Promise<void> {
  const handle = await open(part, start === 0 ? 'w' : 'r+');
  try {
    let received = start;
    for await (const chunk of chunks) {
      if (received + chunk.length > file.bytes) {
        throw new Error(`it sends more than the expected ${byteCount(file.bytes)}`);
      }
      await writeAll(handle, chunk, received);
      received += chunk.length;
      onReceived(received);
    }
    if (received < file.bytes) throw new Error(`it ended after ${received} of ${byteCount(file.bytes)}`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    written += (await handle.write(bytes, written, bytes.length - written, position + written)).bytesWritten;
  }
}

/**
 * Requests the rest of the file, provided that it has not changed since the first part was received (RFC 9110, 13.1.5).
 */
async function rangeHeaders(part: string, offset: number): Promise<Record<string, string>> {
  if (offset === 0) return {};
  const range = { range: `bytes=${offset}-` };
  const hasValidator = (await sizeOf(validatorOf(part))) !== null;
  return hasValidator ? { ...range, 'if-range': await readFile(validatorOf(part), 'utf8') } : range;
}

/** Position of the first byte of the answer's body: `offset` if the server resumes, 0 if it sends the whole file. */
function acceptedStart(response: Response, offset: number, file: RemoteFile): number {
  if (response.status === 206) {
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '') ?? [];
    if (Number(start) === offset && (total === '*' || Number(total) === file.bytes)) return offset;
    throw new Error(
      `asked for bytes ${offset} to ${file.bytes - 1} of ${file.bytes}, it answers with ` +
        `"${response.headers.get('content-range')}"`,
    );
  }
  if (response.status !== 200) throw new Error(`HTTP ${response.status} ${response.statusText}`);
  const length = response.headers.get('content-length');
  if (length !== null && Number(length) !== file.bytes) {
    throw new Error(`it offers ${byteCount(Number(length))}, the official file has ${byteCount(file.bytes)}`);
  }
  return 0;
}

/** If-Range accepts only a strong ETag. Without one, only the SHA-256 checks a resumed file. */
async function keepValidator(part: string, response: Response): Promise<void> {
  const etag = response.headers.get('etag');
  if (etag?.startsWith('"')) await writeFile(validatorOf(part), etag);
  else await rm(validatorOf(part), { force: true });
}

function validatorOf(part: string): string {
  return `${part}.etag`;
}

async function discard(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(validatorOf(part), { force: true });
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The system reports to nobody that a lock is free, so waiting means asking. */
const tryEveryMs = 200;

/**
 * Runs `action` while this process holds the lock of a file, which stays as an empty file. The system frees the lock of
 * a process that ends in any way. Where the file system has no locks, `action` runs without one: it must stay correct,
 * though it may waste work, when it runs twice at the same time.
 */
async function withLock<T>(path: string, signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
  const lock = await acquire(path, signal);
  try {
    return await action();
  } finally {
    lock?.release();
  }
}

async function acquire(path: string, signal: AbortSignal | undefined): Promise<FileLock | null> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      const lock = FileLock.tryTake(path);
      if (lock !== null) return lock;
    } catch (error) {
      console.warn(`${messageOf(error)} Until then, several processes may download the same file.`);
      return null;
    }
    await delay(tryEveryMs, undefined, { signal });
  }
}
