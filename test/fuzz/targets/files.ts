import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FuzzTarget } from '../engine/target.ts';

/** A target that reads a file of a folder. */
export interface FileTarget extends Omit<FuzzTarget, 'run' | 'close'> {
  /** Path of the file in a temporary folder. */
  path: string;
  read: (folder: string, file: string) => Promise<unknown>;
  /** Prepares the folder before the first case, with what the file needs beside it. */
  prepare?: (folder: string) => Promise<unknown>;
}

/** Writes each input to the file, and has it read. */
export function fileTarget({ path, read, prepare, ...target }: FileTarget): FuzzTarget {
  let opened: Promise<string> | null = null;
  const open = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'tutti-fuzz-'));
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await prepare?.(folder);
    return folder;
  };
  return {
    weight: 0.5,
    ...target,
    async run(bytes) {
      const folder = await (opened ??= open());
      const file = join(folder, path);
      await writeFile(file, bytes);
      await read(folder, file);
    },
    async close() {
      if (opened !== null) await rm(await opened, { recursive: true, force: true });
      opened = null;
    },
  };
}

/** A seed of text. */
export const text = (content: string): Uint8Array => Buffer.from(content);
/** A seed of JSON. */
export const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));
