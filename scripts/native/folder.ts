import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Tells the user what goes on. */
export type Note = (text: string) => void;

/** Has a folder made aside, which then replaces an earlier one as a whole; where making it fails, the earlier one stays. */
export async function replaceFolder(folder: string, make: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${folder}.part`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  await make(aside);
  await rm(folder, { recursive: true, force: true });
  await rename(aside, folder);
}

/** Has a backend compute something in a process of its own. @returns what it says it computed on */
export async function tryBackend(backend: 'tensorflow' | 'webgpu', environment: NodeJS.ProcessEnv): Promise<string> {
  const script = join(import.meta.dirname, 'try-backend.ts');
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [script, backend], { env });
  return stdout.trim();
}
