import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { renameOver } from '../../core/node/atomic-file.ts';
import { ownModule } from '../system/own-copies.ts';

/** The folders of Tutti's home in which backends and OpenBLAS are set up. */
export interface SetupFolders {
  tensorflow: string;
  webgpu: string;
  blas: string;
  /** Of downloads, until the backend is set up. */
  archives: string;
}

/** Shows the user a message about the progress. */
export type Note = (text: string) => void;

/** Replaces a folder with a new one that `make` fills. If that fails, the earlier folder stays. */
export async function replaceFolder(folder: string, make: (aside: string) => Promise<void>): Promise<void> {
  const aside = `${folder}.part`;
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  await make(aside);
  await rm(folder, { recursive: true, force: true });
  await renameOver(aside, folder);
}

/** Tests a backend in a separate process. @returns the backend's description of its device */
export async function tryBackend(backend: 'tensorflow' | 'webgpu', environment: NodeJS.ProcessEnv): Promise<string> {
  const script = fileURLToPath(ownModule('entries/try-backend'));
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, [script, backend], { env });
  return stdout.trim();
}
