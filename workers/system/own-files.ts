import { extname } from 'node:path';

/**
 * The address of a file of this folder `workers`, by its path in it. This module lies two folders below Tutti's own folder, in the sources
 * as in the package, where all modules lie in `workers/entries`.
 */
export function ownFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The address of a module, by its path without extension: TypeScript in the sources, JavaScript in the package. */
export function ownModule(path: string): string {
  return ownFile(path + extname(import.meta.url)).href;
}
