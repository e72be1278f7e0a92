import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { FolderName, Health } from '../../../core/protocol/pages/rpc.ts';
import { hasDisplay } from '../../processes/app-files.ts';
import { homePaths, tuttiHome } from '../../store/home.ts';
import type { ProjectCard, TrustedFolder } from '../../../core/protocol/pages/project-views.ts';
import { describePermissions, missingPermissions } from '../../../core/protocol/run/permissions.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { allowedPermissions, isInside, trustOf } from '../../trust/project-trust.ts';
import { readTrustFile } from '../../trust/trust-file.ts';

/** @throws Error if the system cannot open the path */
export type OpenPath = (path: string) => Promise<void>;

/** The command of each system that shows a folder. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer.exe', linux: 'xdg-open' };

/** Folders that a user may want to open. */
export function listFolders(): Health['folders'] {
  const { runs, cache, exports } = homePaths();
  return [
    { name: 'home', holds: 'All data of Tutti', path: tuttiHome() },
    { name: 'runs', holds: 'Runs, with their logs', path: runs },
    { name: 'cache', holds: 'Downloaded data', path: cache },
    { name: 'exports', holds: 'Exports', path: exports },
  ];
}

/** The command that shows a folder; null if there is none, or no display. */
export function findOpener(): string | null {
  const name = openers[process.platform] ?? 'xdg-open';
  if (!hasDisplay()) return null;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/**
 * Shows a folder.
 * @param openPath of Electron, which needs no child process; null in a browser
 * @throws Error if there is no file manager, or it does not start
 */
export async function openFolder(name: FolderName, openPath: OpenPath | null): Promise<void> {
  const path = listFolders().find((folder) => folder.name === name)?.path ?? tuttiHome();
  await mkdir(path, { recursive: true });
  if (openPath !== null) return openPath(path);
  const opener = findOpener();
  if (opener === null) {
    throw new Error(
      `No file manager can be shown here, because there is no display or none is installed. Open ${path} yourself.`,
    );
  }
  const child = spawn(opener, [path], { stdio: 'ignore', detached: true });
  await once(child, 'spawn');
  child.unref();
}

/** The folders that the user trusts, for the settings. */
export async function listTrusted(): Promise<TrustedFolder[]> {
  const { folders, permissions } = readTrustFile();
  return folders.map(({ folder, since }) => ({
    folder,
    since,
    allowed: Object.entries(permissions).flatMap(([project, granted]) => {
      const phrases = isInside(project, folder) ? describePermissions(granted) : [];
      return phrases.length === 0 ? [] : [`${project}: ${phrases.join(', ')}`];
    }),
  }));
}

/**
 * The part of a card that says whether the project may run. A folder that is gone, or a file in its place, is no
 * question of trust: it cannot be read.
 */
export function trustOnCard(folder: string): Pick<ProjectCard, 'isTrusted' | 'warning'> {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder) return { isTrusted: true, warning: null };
  const { by, warning } = trustOf(folder);
  return { isTrusted: by !== null, warning };
}

/** What a project asks for and the user has not allowed, as phrases. */
export function asksOf(folder: string, { permissions }: ProjectDescription): string[] {
  const missing = missingPermissions(permissions, allowedPermissions(folder));
  return missing === null ? [] : describePermissions(missing);
}
