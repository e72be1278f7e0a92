import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ownBlasName } from '../../core/protocol/machine/devices.ts';
import { loadBlas } from '../backends/blas/system-blas.ts';
import { addWheel } from './fetch-wheel.ts';
import { type Note, replaceFolder, type SetupFolders } from './folder.ts';
import { blasWheelFor } from './wheels.ts';

/** Sets up OpenBLAS, whose matrix products the `wasm` backend uses where they are faster: one file and its licence. */
export async function setUpBlas({ blas: folder, archives }: SetupFolders, note: Note): Promise<void> {
  const wheel = blasWheelFor();
  await replaceFolder(folder, async (aside) => {
    await addWheel(wheel, { archives, folder: aside, choose: wantedPath }, note);
  });
  // Not before: Windows renames no folder whose library is loaded.
  const library = join(folder, ownBlasName(process.platform));
  note(`Tried: ${(await loadBlas({ kind: 'OpenBLAS', library, coreType: null })).description}`);
  await rm(archives, { recursive: true, force: true });
  note(`Ready in ${folder}. The wasm backend uses it where it is faster than Tutti's own kernels.`);
}

function wantedPath(name: string): string | null {
  if (/\/licenses\/LICENSE/.test(name)) return basename(name);
  // On some systems the name lacks "lib".
  return /\/lib\/(lib)?scipy_openblas\.(so|dylib|dll)$/.test(name) ? ownBlasName(process.platform) : null;
}
