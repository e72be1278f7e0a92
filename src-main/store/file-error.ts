/** A file operation that failed: what was tried on which path, the rule it broke, and the remedy. */
export class FileError extends Error {
  readonly path: string;
  /** The system's code, such as `ENOSPC`. */
  readonly code: string;

  constructor(message: string, path: string, code: string, cause: unknown) {
    super(message, { cause });
    this.name = 'FileError';
    this.path = path;
    this.code = code;
  }
}

const PERMISSION = {
  rule: 'this user may not',
  remedy: 'Change the permissions, or choose another folder with --out or TUTTI_HOME.',
};

const EXPLANATIONS: Record<string, { rule: string; remedy: string }> = {
  ENOSPC: {
    rule: 'the disk is full',
    remedy: 'Free some space there, or choose a folder on another disk with --out or TUTTI_HOME.',
  },
  EDQUOT: {
    rule: "this user's disk quota is used up",
    remedy: 'Free some space there, or choose a folder on another disk with --out or TUTTI_HOME.',
  },
  EFBIG: {
    rule: 'the file would be larger than the system allows',
    remedy: 'Raise the limit (ulimit -f), or choose a folder on another file system with --out or TUTTI_HOME.',
  },
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: {
    rule: 'the disk is mounted read-only',
    remedy: 'Mount it for writing, or choose another folder with --out or TUTTI_HOME.',
  },
  EMFILE: {
    rule: 'this process has too many files open',
    remedy: 'Raise the limit (ulimit -n 4096) and start again.',
  },
  ENFILE: { rule: 'the system has too many files open', remedy: 'Close other programs, or raise fs.file-max.' },
  ENOENT: {
    rule: 'it, or a folder on the way to it, does not exist',
    remedy: 'Check the path; a disk may have been unmounted or a folder removed.',
  },
  ENOTDIR: { rule: 'a part of the path is a file, not a folder', remedy: 'Choose another folder.' },
  EISDIR: { rule: 'a folder has this name', remedy: 'Choose another name, or move that folder away.' },
};

/** The system's code of an error (`ENOENT`), null when it has none. */
export function errorCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

/**
 * An error with path, rule and remedy for a failed file operation; any other error comes back as it is.
 * @param action what was tried, as in "Cannot <action> <path>"
 */
export function explainFileError(error: unknown, path: string, action: string): unknown {
  const code = errorCode(error);
  if (code === null || error instanceof FileError) return error;
  const explanation = EXPLANATIONS[code];
  if (explanation === undefined) return error;
  const { rule, remedy } = explanation;
  return new FileError(`Cannot ${action} ${path}: ${rule} (${code}). ${remedy}`, path, code, error);
}
