/** A file operation that failed. The message names what was tried, the path, the reason and the remedy. */
export class FileError extends Error {
  readonly path: string;
  /** The system's code, such as `ENOSPC`. */
  readonly code: string;
  /** The size of the file to write; null where it is not known. */
  readonly neededBytes: number | null;

  constructor(message: string, about: { path: string; code: string; neededBytes: number | null }, cause: unknown) {
    super(message, { cause });
    this.name = 'FileError';
    this.path = about.path;
    this.code = about.code;
    this.neededBytes = about.neededBytes;
  }
}

/** What chooses the folder of a run, as messages name it. */
export const folderFlags = '--out or TUTTI_HOME';
const OTHER_FOLDER = `choose another folder with ${folderFlags}.`;
const OTHER_DISK = `choose a folder on another disk with ${folderFlags}.`;
const PERMISSION = { rule: 'this user may not', remedy: `Change the permissions, or ${OTHER_FOLDER}` };

const EXPLANATIONS: Record<string, { rule: string; remedy: string }> = {
  ENOSPC: { rule: 'the disk is full', remedy: `Free some space there, or ${OTHER_DISK}` },
  EDQUOT: { rule: "this user's disk quota is used up", remedy: `Free some space there, or ${OTHER_DISK}` },
  EFBIG: {
    rule: 'the file would be larger than the system allows',
    remedy: `Raise the limit (ulimit -f), or choose a folder on another file system with ${folderFlags}.`,
  },
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: { rule: 'the disk is mounted read-only', remedy: `Mount it for writing, or ${OTHER_FOLDER}` },
  EMFILE: {
    rule: 'this process has too many files open',
    remedy: 'Raise the limit (ulimit -n 4096) and start again.',
  },
  ENFILE: { rule: 'the system has too many files open', remedy: 'Close other programs, or raise fs.file-max.' },
  EAGAIN: {
    rule: 'the system starts no more processes for this user',
    remedy: 'End other programs, or raise the limit (ulimit -u), and start again.',
  },
  ENOMEM: { rule: 'the system has no memory left', remedy: 'End other programs, or train fewer ranks at a time.' },
  ENOENT: {
    rule: 'it, or a folder on the way to it, does not exist',
    remedy: 'Check the path; a disk may have been unmounted or a folder removed.',
  },
  ENOTSUP: {
    rule: 'its file system takes no folders or files there',
    remedy: `Use a folder on a disk: ${OTHER_FOLDER}`,
  },
  ENOTDIR: { rule: 'a part of the path is a file, not a folder', remedy: 'Choose another folder.' },
  EISDIR: { rule: 'a folder has this name', remedy: 'Choose another name, or move that folder away.' },
};

/** The system's code of an error (`ENOENT`); null when it has none. */
export function errorCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

/**
 * Turns a failed file operation into a {@link FileError} with path, reason and remedy. Returns any other error
 * unchanged.
 * @param action what was tried, as in "Cannot <action> <path>"
 * @param neededBytes the size of the file to write, where it is known
 */
export function explainFileError(error: unknown, path: string, action: string, neededBytes?: number): unknown {
  const code = errorCode(error);
  if (code === null || error instanceof FileError) return error;
  const need = neededBytes === undefined ? '' : `, and the file needs ${neededBytes} bytes`;
  const about = { path, code, neededBytes: neededBytes ?? null };
  const explanation = EXPLANATIONS[code];
  if (explanation !== undefined) {
    const { rule, remedy } = explanation;
    return new FileError(`Cannot ${action} ${path}: ${rule} (${code})${need}. ${remedy}`, about, error);
  }
  // The system's own words often lack the path: "EIO: i/o error, write".
  const isSystemError = error instanceof Error && 'syscall' in error;
  return isSystemError ? new FileError(`Cannot ${action} ${path}: ${error.message}${need}.`, about, error) : error;
}

/**
 * Turns the system's error, of a file or of a process that was to start, into one with the reason and the remedy.
 * Returns any other error unchanged.
 */
export function explainSystemError(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || typeof error.syscall !== 'string') return error;
  const path = 'path' in error && typeof error.path === 'string' ? error.path : 'a file';
  return explainFileError(error, path, error.syscall.startsWith('spawn') ? 'start' : 'use');
}

/** The result of `operation`, or null where its file or folder does not exist. */
export async function unlessMissing<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

const maximumAttempts = 100;
/** ESTALE on Linux and macOS, for which Node has no name. */
const staleCodes: ReadonlySet<string | null> = new Set(['Unknown system error -116', 'Unknown system error -70']);

/**
 * Repeats a reading as long as the file that it opened is gone. On network file systems (NFS, GlusterFS) another
 * machine that replaces a file by renaming takes the old one away from its readers (ESTALE), which on a local disk keep
 * it. The name leads to the new file.
 */
export async function rereadStale<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!staleCodes.has(errorCode(error)) || attempt === maximumAttempts) throw error;
    }
  }
}
