import { type FSWatcher, watch } from 'node:fs';
import { errorCode } from '../../core/node/file-error.ts';

/** A folder of which the system reports nothing is looked at this often. */
const lookEveryMs = 1_000;

/**
 * Codes of a system that has no more watchers or files for this user or process. Linux: fs.inotify.max_user_watches,
 * _instances.
 */
const exhaustions: ReadonlySet<string | null> = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);

export interface FolderWatch {
  close(): void;
}

export interface FolderListener {
  /** @param file the name of what changed; null where it is unknown */
  changed(file: string | null): void;
  failed(error: Error): void;
  /** The system takes no more watches. `changed` is then called every second. */
  noticed(notice: string): void;
}

/** Reports changes in a folder, but not below it. */
export function watchFolder(folder: string, listener: FolderListener, system: typeof watch = watch): FolderWatch {
  let watching: FolderWatch;
  const fallBack = (error: Error): void => {
    watching.close();
    if (!exhaustions.has(errorCode(error))) return listener.failed(error);
    watching = lookRegularly(folder, error, listener);
  };
  try {
    const watcher: FSWatcher = system(folder, (_event, file) => listener.changed(file));
    watching = watcher;
    watcher.on('error', fallBack);
  } catch (error) {
    if (!(error instanceof Error) || !exhaustions.has(errorCode(error))) throw error;
    watching = lookRegularly(folder, error, listener);
  }
  return { close: () => watching.close() };
}

function lookRegularly(folder: string, reason: Error, listener: FolderListener): FolderWatch {
  listener.noticed(
    `Changes in ${folder} show up after a second, because the system takes no more watches (${reason.message}). ` +
      'On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.',
  );
  const timer = setInterval(() => listener.changed(null), lookEveryMs).unref();
  return { close: () => clearInterval(timer) };
}
