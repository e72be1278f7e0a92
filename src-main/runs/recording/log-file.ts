import { asError } from '../../../core/text/errors.ts';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { appendWhole } from '../../../core/node/append-lines.ts';
import { asFullDisk } from '../../../core/node/disk-room.ts';
import { explainFileError } from '../../../core/node/file-error.ts';
import { openOwnFile } from '../../../core/node/own-files.ts';
import { makeOwnFolder } from '../../../core/node/own-folders.ts';

/** Enough to see what a worker did before it died. */
const keptLines = 12;
/** Text in memory from which on {@link LogFile.drained} waits. */
const drainFromCharacters = 2 ** 16;
/** Text in memory while the disk is full; later lines are left out. */
const longestWaitCharacters = 2 ** 20;

export interface LogFileOptions {
  /** Called with the error of the first failed write. The log takes no more lines then. */
  onError: (error: Error) => void;
  /** Repeats a write while the disk is full. Default: it fails. */
  whenThereIsRoom?: (write: () => Promise<void>) => Promise<void>;
}

/** `logs/rank-3.log`: the output of a worker, line by line, with the time. */
export class LogFile {
  readonly #runFolder: string;
  /** Relative to the run's folder. */
  readonly #path: string;
  readonly #options: LogFileOptions;
  readonly #last: string[] = [];
  #handle: FileHandle | null = null;
  #waiting = '';
  #leftOut = 0;
  #isDiskFull = false;
  #hasFailed = false;
  #isClosed = false;
  #writing: Promise<void> | null = null;
  /** Resolves when a write ends or finds the disk full. */
  #progress = Promise.withResolvers<void>();

  constructor(logsFolder: string, rank: number, options: LogFileOptions) {
    this.#runFolder = dirname(logsFolder);
    this.#path = join(basename(logsFolder), `rank-${rank}.log`);
    this.#options = options;
  }

  write(line: string): void {
    this.#last.push(line);
    if (this.#last.length > keptLines) this.#last.shift();
    this.#take(line);
  }

  /** Writes lines of the hub, which are not what the worker printed last. Once the log is closed, they are left out. */
  note(text: string): void {
    if (this.#isClosed) return;
    for (const line of text.split('\n')) this.#take(`(hub) ${line}`);
  }

  #take(line: string): void {
    if (this.#hasFailed) return;
    if (this.#isDiskFull && this.#waiting.length > longestWaitCharacters) this.#leftOut += 1;
    else this.#waiting += stamped(line);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves once few lines wait, or the disk is full: then lines may be left out, but their writer is not held up. */
  async drained(): Promise<void> {
    while (this.#waiting.length > drainFromCharacters && !this.#isDiskFull && !this.#hasFailed)
      await this.#progress.promise;
  }

  lastLines(): readonly string[] {
    return this.#last;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#handle?.close();
    this.#handle = null;
  }

  async #writeAll(): Promise<void> {
    const { onError, whenThereIsRoom = (write) => write() } = this.#options;
    try {
      while (this.#waiting !== '') {
        await whenThereIsRoom(() => this.#append());
        this.#move();
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#move();
      onError(asError(error));
    } finally {
      this.#writing = null;
    }
  }

  async #append(): Promise<void> {
    const note = this.#leftOut === 0 ? '' : stamped(`(hub) ${this.#leftOut} lines were left out: the disk was full.`);
    let length = 0;
    try {
      this.#handle ??= await this.#open();
      ({ length } = this.#waiting);
      await appendWhole(this.#handle, this.#waiting + note);
    } catch (error) {
      this.#isDiskFull = asFullDisk(error) !== null;
      this.#move();
      throw explainFileError(error, join(this.#runFolder, this.#path), 'append to', length);
    }
    this.#isDiskFull = false;
    this.#leftOut = 0;
    this.#waiting = this.#waiting.slice(length);
  }

  async #open(): Promise<FileHandle> {
    await makeOwnFolder(this.#runFolder, dirname(this.#path));
    return openOwnFile(this.#runFolder, this.#path, 'append');
  }

  #move(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }
}

function stamped(line: string): string {
  return `${new Date().toISOString()} ${line}\n`;
}
