import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { MenuItemConstructorOptions } from 'electron';
import type { WindowCommand } from '../../core/protocol/pages/window.ts';
import type { ZoomChange } from './windows/app-windows.ts';
import { z } from 'zod';
import { writeFileAtomic } from '../../core/node/atomic-file.ts';
import { unlessMissing } from '../../core/node/file-error.ts';

export interface UpdateItems {
  isEnabled: boolean;
  /** The version that can be installed; null if there is none. */
  readyVersion: string | null;
  setEnabled: (isEnabled: boolean) => void;
  install: () => void;
}

export interface MenuOptions {
  platform: NodeJS.Platform;
  /** Whether the app runs from its sources. Only then the menu has developer tools. */
  isDevelopment: boolean;
  /** Folders of opened projects, the most recent first. */
  recentFolders: readonly string[];
  /** Runs and files of data whose pages were shown, the most recent first. */
  recentDocuments: RecentDocuments;
  chooseProject: () => void;
  /** Chooses a file of data for a new project. */
  chooseData: () => void;
  /** Chooses an exported run and imports it. */
  chooseExport: () => void;
  /** Opens the folder of a project or run, or a file of data. */
  openPath: (path: string) => void;
  /** Opens one more window, with the list of projects. */
  newWindow: () => void;
  /** Opens one more window, with the page that the one in front shows. */
  duplicateWindow: () => void;
  /** Opens the page that the window in front shows in a browser; null while that cannot be. */
  openInBrowser: (() => void) | null;
  showAbout: () => void;
  /** Updates; null where the package has no address for them. */
  updates: UpdateItems | null;
  /** Changes the zoom of all pages. */
  zoom: (change: ZoomChange) => void;
  sendToPage: (command: WindowCommand) => void;
}

/** Maximum number of projects in the menu; the page lists all. */
const maximumRecent = 10;

/** The app's menu, with the usual shortcuts of the platform. Commands for a run go to its page. */
export function menuTemplate(options: MenuOptions): MenuItemConstructorOptions[] {
  const isMac = options.platform === 'darwin';
  return [
    ...(isMac ? [{ role: 'appMenu' as const }] : []),
    { label: '&File', submenu: fileMenu(options, isMac) },
    { role: 'editMenu' },
    { label: '&View', submenu: viewMenu(options) },
    { label: '&Run', submenu: runMenu(options) },
    ...(isMac ? [{ role: 'windowMenu' as const }] : []),
    { role: 'help', submenu: helpMenu(options) },
  ];
}

function fileMenu(options: MenuOptions, isMac: boolean): MenuItemConstructorOptions[] {
  return [
    { label: 'New Window', accelerator: 'CmdOrCtrl+N', click: options.newWindow },
    { label: 'Open in New Window', accelerator: 'CmdOrCtrl+Shift+N', click: options.duplicateWindow },
    { type: 'separator' },
    { label: 'Open Project…', accelerator: 'CmdOrCtrl+O', click: options.chooseProject },
    { label: 'New from Data…', click: options.chooseData },
    { label: 'Open Recent', submenu: recentMenu(options) },
    { label: 'Import Run…', click: options.chooseExport },
    pageItem(options, 'Attach to a Remote Run…', { name: 'attach-run' }),
    { label: 'Open in Browser', enabled: options.openInBrowser !== null, click: () => options.openInBrowser?.() },
    { type: 'separator' },
    pageItem(options, 'Export Run…', { name: 'export' }, 'CmdOrCtrl+E'),
    { type: 'separator' },
    { role: 'close' },
    // On a Mac, Quit is in the app's menu.
    ...(isMac ? [] : [{ role: 'quit' as const, accelerator: 'Ctrl+Q' }]),
  ];
}

/** Projects, then runs and files of data. Electron has a menu of the system for them on macOS alone. */
function recentMenu({ recentFolders, recentDocuments, openPath }: MenuOptions): MenuItemConstructorOptions[] {
  const itemOf = (name: string, path: string): MenuItemConstructorOptions => ({
    // `&` would underline the next letter.
    label: `${name}  (${path})`.replaceAll('&', '&&'),
    click: () => openPath(path),
  });
  const projects = recentFolders.slice(0, maximumRecent).map((folder) => itemOf(basename(folder), folder));
  const others = recentDocuments.map(({ name, path }) => itemOf(name, path));
  if (projects.length + others.length === 0) return [{ label: 'No recent projects, runs or files', enabled: false }];
  const between: MenuItemConstructorOptions[] = projects.length > 0 && others.length > 0 ? [{ type: 'separator' }] : [];
  return [...projects, ...between, ...others];
}

function viewMenu(options: MenuOptions): MenuItemConstructorOptions[] {
  const themes = (['system', 'light', 'dark'] as const).map((theme) =>
    pageItem(options, `${theme[0].toUpperCase()}${theme.slice(1)}`, { name: 'set-theme', theme }),
  );
  return [
    { role: 'reload' },
    { label: 'Theme', submenu: themes },
    { type: 'separator' },
    zoomItem(options, 'Actual Size', 'reset', 'CmdOrCtrl+0'),
    zoomItem(options, 'Zoom In', 'in', 'CmdOrCtrl+Plus'),
    // The key that most keyboards have for it; the item above has the plus sign.
    { ...zoomItem(options, 'Zoom In', 'in', 'CmdOrCtrl+='), visible: false, acceleratorWorksWhenHidden: true },
    zoomItem(options, 'Zoom Out', 'out', 'CmdOrCtrl+-'),
    { type: 'separator' },
    { role: 'togglefullscreen' },
    ...(options.isDevelopment ? [{ role: 'toggleDevTools' as const }] : []),
  ];
}

function helpMenu(options: MenuOptions): MenuItemConstructorOptions[] {
  // On Linux, GTK uses Ctrl+/ in text fields.
  const keys = options.platform === 'linux' ? 'F1' : 'CmdOrCtrl+/';
  return [
    pageItem(options, 'Keyboard Shortcuts', { name: 'show-keys' }, keys),
    ...updateItems(options.updates),
    { label: 'About Tutti', click: options.showAbout },
  ];
}

function updateItems(updates: UpdateItems | null): MenuItemConstructorOptions[] {
  if (updates === null) return [];
  const { isEnabled, readyVersion, setEnabled, install } = updates;
  const items: MenuItemConstructorOptions[] = [
    { label: 'Look for Updates', type: 'checkbox', checked: isEnabled, click: () => setEnabled(!isEnabled) },
  ];
  return readyVersion === null
    ? items
    : [...items, { label: `Install Tutti ${readyVersion} and Restart`, click: install }];
}

function runMenu(options: MenuOptions): MenuItemConstructorOptions[] {
  return [
    pageItem(options, 'Pause or Continue', { name: 'toggle-pause' }, 'CmdOrCtrl+P'),
    pageItem(options, 'Stop Jointly…', { name: 'stop-jointly' }, 'CmdOrCtrl+.'),
  ];
}

/** Not Electron's roles: they tell nobody, so that the zoom would only be kept with the next change of a window. */
function zoomItem(
  { zoom }: MenuOptions,
  label: string,
  change: ZoomChange,
  accelerator: string,
): MenuItemConstructorOptions {
  return { label, accelerator, click: () => zoom(change) };
}

function pageItem(
  { sendToPage }: MenuOptions,
  label: string,
  command: WindowCommand,
  accelerator?: string,
): MenuItemConstructorOptions {
  return { label, accelerator, click: () => sendToPage(command) };
}

const recentDocumentsSchema = z.array(z.strictObject({ path: z.string(), name: z.string() }));
/** Runs and files of data whose pages were shown, the most recent first. */
export type RecentDocuments = z.output<typeof recentDocumentsSchema>;

/** The menu has no more. */
const mostDocuments = 10;

/**
 * The run, by its id, or the file of data that a page shows; null for other pages.
 * @param address the part of the page's address after `#`
 */
export function shownDocument(address: string): { run: string } | { data: string } | null {
  const [id] = /(?<=^\/runs\/)[^/?]+/.exec(address) ?? [];
  if (id !== undefined) return { run: decodeURIComponent(id) };
  const data = address.startsWith('/create?') ? new URLSearchParams(address.slice(8)).get('path') : null;
  return data === null ? null : { data };
}

/** The list with this document as its first. */
export function withRecent(documents: RecentDocuments, document: RecentDocuments[number]): RecentDocuments {
  return [document, ...documents.filter(({ path }) => path !== document.path)].slice(0, mostDocuments);
}

/** The list as it was kept; empty if it was never, or is damaged, because the next document replaces it. */
export async function readRecentDocuments(path: string): Promise<RecentDocuments> {
  const text = await unlessMissing(readFile(path, 'utf8'));
  const parsed = recentDocumentsSchema.safeParse(text === null ? [] : parseJson(text));
  return parsed.data ?? [];
}

export async function writeRecentDocuments(path: string, documents: RecentDocuments): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(documents, null, 2)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
