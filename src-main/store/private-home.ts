import { chmod, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../core/text/errors.ts';
import { removeAsides } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError, unlessMissing } from '../../core/node/file-error.ts';
import { makeFolder } from '../../core/node/make-folder.ts';
import { homePaths, tuttiHome } from './home.ts';

/** Permissions of the folders in Tutti's home: only their owner may enter, list and change them. */
export const privateMode = 0o700;
const othersMayUse = 0o077;
const othersMayWrite = 0o022;

/** What {@link secureHome} found and nobody has been told yet. */
let findings: string[] = [];

/**
 * Creates the folders of Tutti's home for this user alone, whatever the umask, and narrows those that others may use. A
 * home holds code that Tutti runs (the cache of compiled code, native libraries), so that who writes it acts as this
 * user. Errors of folders that cannot be created are left to those who need them.
 */
export async function secureHome(home: string = tuttiHome()): Promise<void> {
  // Windows gives the folders of a user's profile to the user alone.
  if (process.platform === 'win32') return;
  const { runs, studies, cache, exports, trash, dashboard } = homePaths(home);
  for (const folder of [home, runs, cache, exports]) await makeFolder(folder, privateMode).catch(() => undefined);
  for (const folder of [home, runs, studies, cache, exports, trash, dashboard])
    await narrow(folder, join(cache, 'compile'));
}

/**
 * Removes the temporary files that killed processes left in Tutti's home and its caches. Folders of runs, studies and
 * searches have locks, whose next owner does it.
 */
export async function removeHomeAsides(home: string = tuttiHome()): Promise<void> {
  const { cache, data, dashboard, comparisons, launches, reachable } = homePaths(home);
  const places = [home, cache, data, join(data, 'fingerprints'), dashboard, comparisons, launches, reachable];
  for (const place of places) await removeAsides(place, { isShared: true });
}

/**
 * Makes the folder of runs in Tutti's home, without which nothing works.
 * @throws FileError with the remedy if it cannot be made
 */
export async function requireHome({ runs }: Pick<ReturnType<typeof homePaths>, 'runs'> = homePaths()): Promise<void> {
  try {
    await makeFolder(runs, privateMode);
  } catch (error) {
    throw explainFileError(error, runs, 'create');
  }
}

/**
 * Codes of a folder that the disk or the user's rights forbid to make; Node's recursive `mkdir` says ENOENT on a
 * read-only disk.
 */
const unwritable: ReadonlySet<string | null> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOENT']);

/**
 * Why the home has no folder of runs and gets none; null if it has one. Runs elsewhere train nevertheless.
 * @throws FileError for any other reason
 */
export async function whyNoRuns(paths: Pick<ReturnType<typeof homePaths>, 'runs'>): Promise<string | null> {
  try {
    await requireHome(paths);
    return null;
  } catch (error) {
    if (!unwritable.has(errorCode(error))) throw error;
    return `${messageOf(error)} Until then nothing is listed, and runs train with --out alone.`;
  }
}

/** The findings since the last call, for the user. */
export function takeHomeFindings(): string[] {
  const taken = findings;
  findings = [];
  return taken;
}

async function narrow(folder: string, compiled: string): Promise<void> {
  const found = await unlessMissing(stat(folder)).catch(() => null);
  if (found === null) return;
  const isOurs = found.uid === process.getuid?.();
  if (!isOurs) return warnOfOwner(folder, found.uid);
  const mode = found.mode & 0o777;
  if ((mode & othersMayUse) === 0 && (mode & privateMode) === privateMode) return;
  try {
    await chmod(folder, privateMode);
    if ((mode & othersMayUse) !== 0) await noteNarrowed(folder, mode, compiled);
  } catch (error) {
    findings.push(
      `Other users may use ${folder} (mode ${mode.toString(8)}), and this cannot be changed: ` +
        `${messageOf(error)}. Set TUTTI_HOME to a private folder.`,
    );
  }
}

async function noteNarrowed(folder: string, mode: number, compiled: string): Promise<void> {
  let consequence = '';
  if ((mode & othersMayWrite) !== 0) {
    // Another user may have put code there, which Node would run instead of Tutti's.
    await rm(compiled, { recursive: true, force: true });
    consequence = ' They could have changed what it holds; the cache of compiled code was removed.';
  }
  findings.push(
    `Other users could use ${folder} (mode ${mode.toString(8)}). It is now yours alone (700).${consequence}`,
  );
}

function warnOfOwner(folder: string, uid: number): void {
  findings.push(
    `${folder} belongs to another user (uid ${uid}), who can change what Tutti runs and reads there. Set ` +
      'TUTTI_HOME to a folder of your own.',
  );
}
