import { type BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../../core/node/file-error.ts';
import { readFully } from '../../../core/node/read-lines.ts';
import {
  type FileKind,
  type FilePart,
  followedAs,
  followedFolders,
  type HeldFile,
  largestWholeBytes,
} from '../../../core/protocol/run/follow.ts';
import { openOwnFile, unlessForeign } from '../../../core/node/own-files.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';

/** What one message carries at most, if no single file is larger. */
const batchBytes = 4 * 2 ** 20;
const recordPath = 'run.json';

/** New parts of files with their bytes, and files that are gone. */
export interface FolderNews {
  parts: FilePart[];
  bytes: Uint8Array<ArrayBuffer>[];
  removed: string[];
}

interface SeenFile {
  path: string;
  kind: FileKind;
  identity: string;
  size: number;
}

/** Finds what changes in a run's folder, for a process on another machine that keeps a copy of it. */
export class FolderFeed {
  readonly #folder: string;
  /** What the follower has, by path. */
  readonly #held: Map<string, HeldFile>;

  constructor(folder: string, have: readonly HeldFile[]) {
    this.#folder = folder;
    this.#held = new Map(have.map((file) => [file.path, file]));
  }

  /**
   * What changed since the last call, as far as one message takes it; null if nothing did. A new record comes only once
   * everything else is there: if it says that the run has ended, its metrics and events are complete.
   */
  async next(): Promise<FolderNews | null> {
    const news: FolderNews = { parts: [], bytes: [], removed: [] };
    const record = await this.#see(recordPath);
    const recordNews = record === null ? null : await this.#read(record, batchBytes);
    const seen = await this.#list();
    let roomBytes = batchBytes;
    for (const file of seen) {
      if (roomBytes <= 0) break;
      const part = await this.#read(file, roomBytes);
      if (part === null) continue;
      roomBytes -= part.bytes.length;
      this.#take(news, part);
    }
    const present = new Set([recordPath, ...seen.map(({ path }) => path)]);
    news.removed.push(...[...this.#held.keys()].filter((path) => !present.has(path)));
    for (const path of news.removed) this.#held.delete(path);
    if (roomBytes > 0 && recordNews !== null) this.#take(news, recordNews);
    return news.parts.length + news.removed.length === 0 ? null : news;
  }

  #take(news: FolderNews, { part, bytes }: { part: FilePart; bytes: Uint8Array<ArrayBuffer> }): void {
    news.parts.push(part);
    news.bytes.push(bytes);
    const { path, identity, offset } = part;
    this.#held.set(path, { path, identity, bytes: offset + bytes.length });
  }

  /** The files besides the record. */
  async #list(): Promise<SeenFile[]> {
    const above = (await listOwnFolder(this.#folder, '.')).filter(({ path }) => path !== recordPath);
    const below = followedFolders.map((name) =>
      // The pages of the run name an entry that is none of its files.
      unlessForeign(listOwnFolder(this.#folder, name, { isDeep: true }), () => undefined),
    );
    const files = [...above, ...(await Promise.all(below)).flatMap((list) => list ?? [])].filter(
      ({ kind }) => kind === 'file',
    );
    const paths = files.map(({ path }) => path).filter((path) => followedAs(path) !== null);
    const seen = await Promise.all(paths.sort().map((path) => this.#see(path)));
    return seen.filter((file) => file !== null);
  }

  async #see(path: string): Promise<SeenFile | null> {
    const kind = followedAs(path);
    const stats = await unlessMissing(lstat(join(this.#folder, path), { bigint: true }));
    if (kind === null || stats === null || !stats.isFile()) return null;
    const size = Number(stats.size);
    return kind === 'whole' && size > largestWholeBytes ? null : { path, kind, identity: identify(stats, kind), size };
  }

  /** The next part of a file that the follower lacks; null if it has all, or the file is gone. */
  async #read(
    { path, kind, identity, size }: SeenFile,
    roomBytes: number,
  ): Promise<{ part: FilePart; bytes: Uint8Array<ArrayBuffer> } | null> {
    const held = this.#held.get(path);
    const isSame = held?.identity === identity && held.bytes <= size;
    const offset = isSame ? held.bytes : 0;
    if (isSame && offset === size) return null;
    const handle = await unlessMissing(openOwnFile(this.#folder, path));
    if (handle === null) return null;
    try {
      // Replaced since it was seen: the next call finds the new one.
      if (identify(await handle.stat({ bigint: true }), kind) !== identity && kind === 'growing') return null;
      const bytes = new Uint8Array(kind === 'whole' ? size : Math.min(size - offset, roomBytes));
      const count = await readFully(handle, bytes, offset);
      return { part: { path, identity, offset, isNew: !isSame }, bytes: bytes.slice(0, count) };
    } finally {
      await handle.close();
    }
  }
}

/** Identifies a file, and of one that is replaced as a whole also its content. The system reuses inodes. */
function identify({ ino, birthtimeNs, mtimeNs, size }: BigIntStats, kind: FileKind): string {
  return kind === 'growing' ? `${ino} ${birthtimeNs}` : `${ino} ${mtimeNs} ${size}`;
}
