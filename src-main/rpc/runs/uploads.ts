import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tutti } from '../../../core/text/program.ts';
import { readFreeBytes } from '../../../core/node/disk-room.ts';
import { dataFormatOf } from '../../../core/preprocessing/data-formats.ts';
import type { UploadEnding, UploadRequest } from '../../../core/protocol/pages/new-samples.ts';
import { formatBytes } from '../../../core/text/numbers.ts';

/** A page sends one file or folder after the other; more at a time are a mistake. */
const mostOpen = 2;
/** Room that is left on the disk. */
const reservedBytes = 100_000_000;

/** A file of samples in a folder of its own, which whoever takes it removes. */
export interface SentSamples {
  folder: string;
  /** What to predict: the file, or the folder of the only image. */
  input: string;
}

interface Upload extends SentSamples {
  sink: FileRow;
  expectedBytes: number;
  receivedBytes: number;
  /** Ends when all parts so far are written; fails like the first that failed. */
  written: Promise<void>;
}

/** Files of samples that one page sends in parts. */
export class Uploads {
  readonly #place: () => Promise<string>;
  readonly #uploads = new Map<string, Upload>();

  /** @param place the folder that receives them */
  constructor(place: () => Promise<string>) {
    this.#place = place;
  }

  /** @returns the name of the upload @throws Error if the disk has no room, or the page sends other files already */
  async open(request: UploadRequest): Promise<string> {
    const { bytes } = request;
    if (this.#uploads.size >= mostOpen) {
      throw new Error(`This page sends ${mostOpen} files already. Wait until one has been used.`);
    }
    const place = await this.#place();
    const freeBytes = await readFreeBytes(place);
    if (bytes + reservedBytes > freeBytes) {
      throw new Error(
        `A file of ${formatBytes(bytes)} does not fit: ${place} has ${formatBytes(freeBytes)} of free space. Make ` +
          `room there, or predict the file with \`${tutti} predict\`, which needs no copy.`,
      );
    }
    const folder = await mkdtemp(join(place, 'question-'));
    const { input, files } = pathsFor(folder, request);
    const id = randomUUID();
    this.#uploads.set(id, {
      folder,
      input,
      sink: await FileRow.open(files),
      expectedBytes: bytes,
      receivedBytes: 0,
      written: Promise.resolve(),
    });
    return id;
  }

  /** Appends a part. @throws Error if the file would be larger than announced, or cannot be written */
  async append(id: string, part: Uint8Array): Promise<void> {
    const upload = this.#find(id);
    const { sink, expectedBytes, receivedBytes } = upload;
    if (receivedBytes + part.length > expectedBytes) {
      throw new Error(`More than the announced ${expectedBytes} bytes were sent. Send the file again.`);
    }
    upload.receivedBytes += part.length;
    upload.written = upload.written.then(() => sink.write(part));
    await upload.written;
  }

  /** The path of the whole file, which stays an upload: the page asks again about it. @throws as `take` */
  async pathOf(id: string): Promise<string> {
    return (await this.#whole(id)).input;
  }

  /** The whole file, which is no longer an upload. @throws Error where parts are missing */
  async take(id: string): Promise<SentSamples> {
    const { folder, input, sink } = await this.#whole(id);
    await sink.close();
    this.#uploads.delete(id);
    return { folder, input };
  }

  /** Removes what was sent of a file. */
  async drop(id: string): Promise<void> {
    const upload = this.#uploads.get(id);
    if (upload === undefined) return;
    this.#uploads.delete(id);
    // The page has got the reason already.
    await upload.written.catch(() => undefined);
    await upload.sink.close();
    await rm(upload.folder, { recursive: true, force: true });
  }

  /** Removes everything that was sent and not predicted. */
  async close(): Promise<void> {
    await Promise.all([...this.#uploads.keys()].map((id) => this.drop(id)));
  }

  async #whole(id: string): Promise<Upload> {
    const upload = this.#find(id);
    const { expectedBytes, receivedBytes, written } = upload;
    if (receivedBytes < expectedBytes) {
      throw new Error(`Only ${receivedBytes} of ${expectedBytes} bytes were sent. Send the file again.`);
    }
    await written;
    return upload;
  }

  #find(id: string): Upload {
    const upload = this.#uploads.get(id);
    if (upload !== undefined) return upload;
    throw new Error('This file is not being sent: the connection was interrupted. Send it again.');
  }
}

/** Files that are written one after the other. */
class FileRow {
  readonly #files: readonly SentFile[];
  #index = 0;
  #leftBytes: number;
  #handle: FileHandle;

  private constructor(files: readonly SentFile[], handle: FileHandle) {
    this.#files = files;
    this.#leftBytes = files[0].bytes;
    this.#handle = handle;
  }

  static async open(files: readonly SentFile[]): Promise<FileRow> {
    const row = new FileRow(files, await openNew(files[0].path));
    await row.#skipFull();
    return row;
  }

  async write(part: Uint8Array): Promise<void> {
    for (let at = 0; at < part.length;) {
      const own = part.subarray(at, at + this.#leftBytes);
      await this.#handle.writeFile(own);
      this.#leftBytes -= own.length;
      at += own.length;
      await this.#skipFull();
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Goes on to the next file that is not whole. */
  async #skipFull(): Promise<void> {
    while (this.#leftBytes === 0 && this.#index + 1 < this.#files.length) {
      await this.#handle.close();
      this.#index++;
      this.#handle = await openNew(this.#files[this.#index].path);
      this.#leftBytes = this.#files[this.#index].bytes;
    }
  }
}

async function openNew(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return open(path, 'wx');
}

interface SentFile {
  path: string;
  bytes: number;
}

/** @throws Error where the files of a folder have other bytes than it */
function pathsFor(folder: string, request: UploadRequest): { input: string; files: SentFile[] } {
  if (!('name' in request)) {
    const { path, input } = samplePaths(folder, request.ending);
    return { input, files: [{ path, bytes: request.bytes }] };
  }
  const input = join(folder, 'input', request.name);
  if (!('files' in request)) return { input, files: [{ path: input, bytes: request.bytes }] };
  const sum = request.files.reduce((total, { bytes }) => total + bytes, 0);
  if (sum === request.bytes) {
    return { input, files: request.files.map(({ path, bytes }) => ({ path: join(input, path), bytes })) };
  }
  throw new Error(`The files of ${request.name} have ${sum} bytes, but ${request.bytes} are announced. Send it again.`);
}

/** The file of samples in a folder, and what to predict: an image is predicted as the only one of its folder. */
export function samplePaths(folder: string, ending: UploadEnding): { path: string; input: string } {
  const isImage = dataFormatOf(`sample.${ending}`)?.holds === 'image';
  const path = isImage ? join(folder, 'images', `image.${ending}`) : join(folder, 'input', `samples.${ending}`);
  return { path, input: isImage ? dirname(path) : path };
}
