import { realpathSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { errorCode } from './file-error.ts';

/** What comparing folders needs of a system; tests give another one. */
export interface FolderSystem {
  platform: NodeJS.Platform;
  /**
   * The path without symbolic links, in the case of letters that the disk has.
   * @throws an error with the code ENOENT where there is nothing
   */
  realpath: (path: string) => string;
}

const thisSystem: FolderSystem = { platform: process.platform, realpath: realpathSync.native };

/** File systems of these platforms usually take upper and lower case for the same. */
const ignoringCase: ReadonlySet<NodeJS.Platform> = new Set(['win32', 'darwin']);
const nothingThere: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * A text that is equal for all paths of one folder, however they are written: relative, through symbolic links, in
 * other letters where the disk ignores case. For comparing only; show and keep the path as it was given.
 */
export function folderKey(path: string, system: FolderSystem = thisSystem): string {
  const absolute = pathsOf(system).resolve(path);
  try {
    return system.realpath(absolute);
  } catch (error) {
    if (!nothingThere.has(errorCode(error))) throw error;
    return ignoringCase.has(system.platform) ? absolute.toLowerCase() : absolute;
  }
}

/** Whether two paths name the same folder. One that is gone is compared by its path. */
export function isSameFolder(a: string, b: string, system: FolderSystem = thisSystem): boolean {
  return a === b || folderKey(a, system) === folderKey(b, system);
}

/** Whether a file or folder lies directly in a folder. */
export function isDirectlyIn(path: string, folder: string, system: FolderSystem = thisSystem): boolean {
  const paths = pathsOf(system);
  return isSameFolder(paths.dirname(paths.resolve(path)), folder, system);
}

function pathsOf({ platform }: FolderSystem): typeof posix {
  return platform === 'win32' ? win32 : posix;
}
