import fs from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, resolve, sep } from 'node:path';
import { DiskJournal } from './disk-journal.ts';

/** A system call below the folder. */
export interface Call {
  name: string;
  path: string;
  /** Whether it can change what is on the disk. */
  isWrite: boolean;
}

/** What happens instead of a call: an error; `half` writes or reads half of the data first. */
export interface Fault {
  code?: 'ENOSPC' | 'EDQUOT' | 'EIO' | 'EINTR' | 'EROFS';
  half?: boolean;
}

type AnyFunction = (...args: never[]) => unknown;
type Patched = Record<string, AnyFunction>;

const pathCalls = [
  'open',
  'rename',
  'link',
  'rm',
  'unlink',
  'mkdir',
  'copyFile',
  'truncate',
  'readFile',
  'readdir',
  'stat',
];
const writingCalls = new Set(['open', 'rename', 'link', 'rm', 'unlink', 'mkdir', 'copyFile', 'truncate']);
const handleCalls = ['writeFile', 'appendFile', 'write', 'truncate', 'sync', 'read', 'readFile', 'stat'];
const writingHandleCalls = new Set(['writeFile', 'appendFile', 'write', 'truncate', 'sync']);

/**
 * Stands between this process and the files below a folder: it counts the calls of `node:fs/promises`, makes chosen
 * ones fail, and keeps a journal of what each changed, from which {@link DiskJournal} makes the contents that a power
 * cut may leave. The code under test is not changed: the functions of Node's modules are replaced.
 */
export class FaultyDisk {
  readonly calls: Call[] = [];
  /** Decides what happens at a call; null: nothing special. */
  fault: (call: Call, index: number) => Fault | null = () => null;
  readonly journal: DiskJournal;
  readonly #root: string;
  readonly #original: Patched;

  static install(root: string): FaultyDisk {
    return new FaultyDisk(resolve(root));
  }

  private constructor(root: string) {
    this.#root = root;
    this.journal = new DiskJournal(root);
    const promises = fs.promises as unknown as Patched;
    this.#original = Object.fromEntries(pathCalls.map((name) => [name, promises[name]]));
    for (const name of pathCalls) promises[name] = this.#pathCall(name);
    syncBuiltinESMExports();
  }

  /** Restores Node's functions. */
  remove(): void {
    Object.assign(fs.promises, this.#original);
    syncBuiltinESMExports();
  }

  #pathCall(name: string): (...args: unknown[]) => Promise<unknown> {
    const original = this.#original[name] as (...args: unknown[]) => Promise<unknown>;
    return async (...args) => {
      const path = resolve(String(args[0]));
      if (!this.#isBelow(path)) return original(...args);
      const isWrite = writingCalls.has(name) && !(name === 'open' && isReading(args[1]));
      this.#begin({ name, path, isWrite });
      const isNew = name === 'open' && isWrite && !fs.existsSync(path);
      const result = await original(...args);
      this.#note(name, path, args, isNew);
      return name === 'open' ? this.#wrap(result as FileHandle, path) : result;
    };
  }

  #note(name: string, path: string, [, second]: unknown[], isNew: boolean): void {
    const to = resolve(String(second));
    if (name === 'rename') this.journal.renamed(path, to);
    if (name === 'link') this.journal.linked(path, to);
    if (name === 'copyFile') this.journal.created(to);
    if (name === 'rm' || name === 'unlink') this.journal.removed(path);
    if (name === 'mkdir') this.journal.madeFolder(path);
    if (name === 'truncate') this.journal.changed(path);
    if (name === 'open' && isNew) this.journal.created(path);
    else if (name === 'open') this.journal.changed(path);
  }

  #wrap(handle: FileHandle, path: string): FileHandle {
    const inode = this.journal.inodeOf(path);
    return new Proxy(handle, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => unknown;
        return typeof name === 'string' && handleCalls.includes(name)
          ? this.#handleCall(name, path, inode, target, method)
          : method;
      },
    });
  }

  #handleCall(
    name: string,
    path: string,
    inode: number | null,
    handle: FileHandle,
    method: (...args: unknown[]) => unknown,
  ): (...args: unknown[]) => Promise<unknown> {
    return async (...args) => {
      const fault = this.#decide({ name, path, isWrite: writingHandleCalls.has(name) });
      if (fault?.half === true && name === 'read') return method(args[0], args[1], halfOf(args[2] as number), args[3]);
      if (fault?.half === true && ['writeFile', 'appendFile'].includes(name)) {
        const [first, rest] = halves(args[0]);
        await method(first);
        if (inode !== null) this.journal.written(inode, path);
        // After a short write Node writes the rest.
        args = [rest, ...args.slice(1)];
      }
      if (fault?.code !== undefined) throw systemError(fault.code, name, undefined);
      const result = await method(...args);
      if (name === 'sync') this.journal.synced(inode, path, (await handle.stat()).isDirectory());
      else if (writingHandleCalls.has(name) && inode !== null) this.journal.written(inode, path);
      return result;
    };
  }

  #begin(call: Call): void {
    const fault = this.#decide(call);
    if (fault?.code !== undefined) throw systemError(fault.code, call.name, call.path);
  }

  #decide(call: Call): Fault | null {
    this.calls.push(call);
    this.journal.beginCall();
    return this.fault(call, this.calls.length - 1);
  }

  #isBelow(path: string): boolean {
    return path === this.#root || path.startsWith(`${this.#root}${sep}`);
  }
}

function isReading(flags: unknown): boolean {
  return flags === undefined || flags === 'r' || flags === fs.constants.O_RDONLY;
}

function halfOf(length: number): number {
  return Math.max(1, Math.floor(length / 2));
}

/** The halves of the data of a write; nothing and all of a stream. */
function halves(data: unknown): [first: Uint8Array, rest: unknown] {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (!(bytes instanceof Uint8Array)) return [new Uint8Array(), data];
  const middle = Math.floor(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

function systemError(code: string, syscall: string, path: string | undefined): Error {
  const about = path === undefined ? '' : ` '${basename(dirname(path))}/${basename(path)}'`;
  return Object.assign(new Error(`${code}: injected, ${syscall}${about}`), { code, syscall, path });
}
