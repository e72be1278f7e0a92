import { constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { messageOf } from '../../core/text/errors.ts';
import { quote } from '../../core/text/printable.ts';
import { folderKey, isSameFolder } from '../../core/node/same-folder.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { projectEntries } from '../../core/protocol/run/project-description.ts';
import {
  describePermissions,
  missingPermissions,
  noPermissions,
  type Permissions,
} from '../../core/protocol/run/permissions.ts';
import { examplesFolder } from './examples.ts';
import { changeTrustFile, readTrustFile, type TrustFile } from './trust-file.ts';

/**
 * Which folders' code may run. Opening or listing a project runs nothing of it; training, describing and evaluating run
 * its code, so each of them requires that the user trusts the folder, or a folder above it. Symbolic links are resolved
 * first.
 */
export interface Trust {
  /** The folder, without symbolic links. */
  folder: string;
  /** Why it is trusted; null if it is not. */
  by: 'example' | 'user' | 'environment' | null;
  /** The trusted folder that covers it: itself or one above; null if none does. */
  through: string | null;
  /** What the user should know before trusting it; null if nothing. */
  warning: string | null;
}

/** Names folders that are trusted in addition, for containers and continuous integration. Separated as in PATH. */
export const trustVariable = 'TUTTI_TRUST';

/** The user must trust the folder first. */
export class UntrustedError extends Error {
  override name = 'UntrustedError';
}

/** @throws Error if the folder does not exist */
export function trustOf(folder: string, file: TrustFile = readTrustFile()): Trust {
  const real = realFolder(folder);
  const { owner, isForeign, warning } = ownerOf(real);
  const isCovered = (entry: { folder: string; owner: number }): boolean =>
    // The user's folder above must not vouch for a folder that somebody else put there (git's safe.directory does the
    // same).
    isForeign ? isSameFolder(real, entry.folder) && owner === entry.owner : isInside(real, entry.folder);
  if (isInside(real, examplesFolder())) return { folder: real, by: 'example', through: examplesFolder(), warning };
  const entry = file.folders.find(isCovered);
  if (entry !== undefined) return { folder: real, by: 'user', through: entry.folder, warning };
  const named = foldersOfEnvironment().find((folder) => isCovered({ folder, owner }));
  return { folder: real, by: named === undefined ? null : 'environment', through: named ?? null, warning };
}

/**
 * @returns the folder without symbolic links, from which Node can import where it may not read the links
 * @throws UntrustedError with the remedies
 */
export function requireTrust(folder: string): string {
  const trust = trustOf(folder);
  if (trust.by !== null) return trust.folder;
  const warning = trust.warning === null ? '' : ` ${trust.warning}`;
  throw new UntrustedError(
    `The project in ${trust.folder} is not trusted, so nothing of it was run.${warning} Training runs its code ` +
      `with your rights. If you trust it: tutti trust ${trust.folder} (or --trust, or the button Trust on the page ` +
      'Projects).',
  );
}

/**
 * The project's folder of a run that goes on.
 * @throws Error with the way out where the project was moved, or the run came from another machine
 */
export function projectFolderOf({ id, project: { folder } }: { id: string; project: { folder: string } }): string {
  if (existsSync(folder)) return folder;
  const link =
    process.platform === 'win32'
      ? `mklink /J "${folder}" "<where it is now>"`
      : `ln -s <where it is now> ${quote([folder])}`;
  throw new Error(
    `The project of the run ${id} was in ${folder}, and nothing is there now. If it was moved, move it back, or ` +
      `make a link to it, through which Tutti finds it: ${link}`,
  );
}

/** The reason why a project's code must not run; null if it may. */
export function whyNotTrusted(folder: string): string | null {
  try {
    requireTrust(folder);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Trusts a folder and all folders below it, until {@link withdrawTrust}.
 * @throws Error if it does not exist or is a whole disk
 */
export async function trustFolder(folder: string): Promise<string> {
  const real = realFolder(folder);
  if (dirname(real) === real)
    throw new Error(`${real} cannot be trusted as a whole: name the folder of your projects.`);
  const entry = { folder: real, owner: ownerOf(real).owner, since: new Date().toISOString() };
  await changeTrustFile((file) => ({
    ...file,
    folders: [...file.folders.filter((other) => !isSameFolder(other.folder, real)), entry],
  }));
  return real;
}

/**
 * Removes a folder from the trusted ones, and what projects in it were allowed.
 * @throws Error if it was not among them, or stays trusted by something else: that, and the remedy
 */
export async function withdrawTrust(folder: string): Promise<void> {
  const own = folderKey(folder);
  const isListed = readTrustFile().folders.some((entry) => folderKey(entry.folder) === own);
  if (isListed) await removeFolder(own);
  const trust = existsSync(folder) && !isFile(folder) ? trustOf(folder) : null;
  if (trust !== null && trust.by !== null) throw new Error(`${folder} ${whyStillTrusted(trust)}`);
  if (!isListed) {
    throw new Error(`${folder} is not among the trusted folders, so nothing was removed. tutti trust lists them.`);
  }
}

function whyStillTrusted({ by, through }: Trust): string {
  if (by === 'example') return 'stays trusted: it belongs to the examples of Tutti.';
  if (by === 'environment')
    return `stays trusted: the variable ${trustVariable} names ${through}. Take that folder out of it.`;
  return (
    `stays trusted, because ${through} above it is. Remove that one (tutti trust --remove ${through}), ` +
    'and trust the other projects in it one by one.'
  );
}

async function removeFolder(own: string): Promise<void> {
  await changeTrustFile(({ folders, permissions }) => ({
    folders: folders.filter((entry) => folderKey(entry.folder) !== own),
    permissions: Object.fromEntries(
      Object.entries(permissions).filter(([project]) => !isInside(folderKey(project), own)),
    ),
  }));
}

/** What the user allowed a project beyond what every project may do. */
export function allowedPermissions(folder: string): Permissions {
  const { by, folder: real } = trustOf(folder);
  // They download their data sets.
  if (by === 'example') return { ...noPermissions, network: true };
  return readTrustFile().permissions[real] ?? noPermissions;
}

/** Allows a project what it asks for. */
export async function allowPermissions(folder: string, asked: Permissions): Promise<void> {
  const real = realFolder(folder);
  if (missingPermissions(asked, allowedPermissions(real)) === null) return;
  await changeTrustFile((file) => ({ ...file, permissions: { ...file.permissions, [real]: asked } }));
}

/** @throws UntrustedError if the project asks for something that the user has not allowed */
export function requirePermissions(folder: string, asked: Permissions): void {
  const missing = missingPermissions(asked, allowedPermissions(folder));
  if (missing === null) return;
  throw new UntrustedError(
    `The project in ${folder} asks for more than projects get: it ${describePermissions(missing).join(', ')}. ` +
      `If you allow that: tutti trust ${folder} (or --trust, or the button Allow on the page Projects).`,
  );
}

/** Why a path is no project, with the remedy: nothing is there, the folder holds none, or it is a file of one. */
export function noProject(path: string): string {
  const absolute = resolve(path);
  if (!isFile(absolute))
    return `There is no project in ${absolute}: the folder must hold a project.ts. See docs/projects.md.`;
  const folder = dirname(absolute);
  const rule = `${absolute} is a file. A project is a folder with a project.ts`;
  if (projectEntries.some((name) => existsSync(join(folder, name))))
    return `${rule}: name the folder ${folder} instead.`;
  return (
    `${rule}, and this file lies beside none. \`tutti create <folder> --template tabular\` writes one for a ` +
    'table. See docs/projects.md.'
  );
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

function realFolder(folder: string): string {
  if (isFile(folder)) throw new Error(noProject(folder));
  try {
    return realpathSync.native(resolve(folder));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw explainFileError(error, folder, 'open the project');
    throw new Error(noProject(folder), { cause: error });
  }
}

function foldersOfEnvironment(): string[] {
  const named = (process.env[trustVariable] ?? '').split(delimiter).filter((folder) => folder !== '');
  return named.map((folder) => folderKey(folder));
}

/** Whether a path is a folder or lies in it. Both are absolute and without symbolic links. */
export function isInside(path: string, folder: string): boolean {
  const below = relative(folder, path);
  return !isAbsolute(below) && below !== '..' && !below.startsWith('../') && !below.startsWith('..\\');
}

/**
 * Somebody else can change the code in a folder that belongs to them, or that they may write to, after it was trusted.
 */
function ownerOf(folder: string): { owner: number; isForeign: boolean; warning: string | null } {
  const { uid, mode } = statSync(folder);
  const user = process.getuid?.();
  if (user === undefined) return { owner: uid, isForeign: false, warning: null };
  const isForeign = uid !== user && uid !== 0;
  const change = 'who can change its code at any time.';
  if (isForeign) return { owner: uid, isForeign, warning: `It belongs to another user (uid ${uid}), ${change}` };
  const isOpen = (mode & constants.S_IWOTH) !== 0;
  return { owner: uid, isForeign, warning: isOpen ? `All users of this machine may write to it, ${change}` : null };
}
