import { constants, lstatSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './file-error.ts';

/** What decides who may change a file or folder: owner, group and permission bits, as `stat` gives them. */
export interface Ownership {
  uid: number;
  gid: number;
  mode: number;
}

/** The user who would load the file. */
export interface Loader {
  uid: number;
  gid: number;
  /** Groups whose members may become root anyway. */
  trustedGroups: readonly number[];
}

/** Members of macOS's group admin may use sudo; Homebrew's folders belong to it. */
const adminGroups = process.platform === 'darwin' ? [0, 80] : [0];

/**
 * Why code of this file must not be loaded: another user than this one and root owns it or a folder on its path, or
 * others may write there, and could replace it. Null if only this user and root can change it, and on Windows, where it
 * is not checked.
 * @param path a file or folder that exists
 */
export function whyNotLoad(path: string): string | null {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return null;
  const loader = { uid, gid, trustedGroups: adminGroups };
  for (let part = realpathSync(path); ; part = dirname(part)) {
    const reason = whyChangeable(lstatSync(part), loader);
    if (reason !== null) return `${part === path ? 'it' : part} ${reason}`;
    if (dirname(part) === part) return null;
  }
}

/** Like {@link whyNotLoad}; null where the file does not exist. */
function whyNotLoadIfThere(path: string): string | null {
  try {
    return whyNotLoad(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * How somebody else than the loader and root can change a file, or rename what lies in a folder; null if nobody can.
 */
export function whyChangeable({ uid, gid, mode }: Ownership, loader: Loader): string | null {
  if (uid !== loader.uid && uid !== 0) return `belongs to another user (uid ${uid})`;
  // In a folder with the sticky bit, such as /tmp, only its owner can rename or remove a file.
  if ((mode & constants.S_IFMT) === constants.S_IFDIR && (mode & 0o1000) !== 0) return null;
  if ((mode & constants.S_IWOTH) !== 0) return 'can be written by every user of this machine';
  const isOwnGroup = gid === loader.gid || loader.trustedGroups.includes(gid);
  return (mode & constants.S_IWGRP) !== 0 && !isOwnGroup ? `can be written by the group ${gid}` : null;
}

/** Why a library must not be loaded, as a sentence with the remedy; null if it may, or is not there. */
export function refuseLibrary(path: string): string | null {
  const reason = whyNotLoadIfThere(path);
  if (reason === null) return null;
  return (
    `${path} is not loaded, because somebody else could have changed it: ${reason}. ` +
    'Move it to a folder that only you and root can write, or correct owner and rights (chmod go-w).'
  );
}
