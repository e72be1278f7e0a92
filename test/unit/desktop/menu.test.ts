import type { MenuItemConstructorOptions } from 'electron';
import { expect, it, vi } from 'vitest';
import type { WindowCommand } from '../../../core/protocol/pages/window.ts';
import { type MenuOptions, menuTemplate } from '../../../src-main/desktop/menu.ts';

const options: MenuOptions = {
  platform: 'linux',
  isDevelopment: false,
  recentFolders: [],
  chooseProject: () => undefined,
  recentDocuments: [],
  chooseData: () => undefined,
  chooseExport: () => undefined,
  openPath: () => undefined,
  newWindow: () => undefined,
  duplicateWindow: () => undefined,
  openInBrowser: null,
  updates: null,
  showAbout: () => undefined,
  zoom: () => undefined,
  sendToPage: () => undefined,
};

/** Items of a menu and its submenus. An item that Electron creates from a role counts as one. */
function flatten(items: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? flatten(item.submenu) : [])]);
}

function find(items: MenuItemConstructorOptions[], label: string): () => void {
  const click = flatten(items).find((item) => item.label === label)?.click;
  if (click === undefined) throw new Error(`Nothing is called "${label}".`);
  return click as () => void;
}

const titles = (items: MenuItemConstructorOptions[]): unknown[] => items.map(({ label, role }) => label ?? role);

it('has the menus of its platform', () => {
  expect(titles(menuTemplate(options))).toEqual(['&File', 'editMenu', '&View', '&Run', 'help']);
  const mac = menuTemplate({ ...options, platform: 'darwin' });
  expect(titles(mac)).toEqual(['appMenu', '&File', 'editMenu', '&View', '&Run', 'windowMenu', 'help']);
});

it('offers quitting once: in the File menu, or on a Mac in the app menu', () => {
  expect(flatten(menuTemplate(options)).filter(({ role }) => role === 'quit')).toHaveLength(1);
  expect(flatten(menuTemplate({ ...options, platform: 'darwin' })).filter(({ role }) => role === 'quit')).toEqual([]);
});

it('assigns no shortcut twice', () => {
  const keys = flatten(menuTemplate(options)).flatMap(({ accelerator }) => accelerator ?? []);
  expect(keys).toEqual([
    'CmdOrCtrl+N',
    'CmdOrCtrl+Shift+N',
    'CmdOrCtrl+O',
    'CmdOrCtrl+E',
    'Ctrl+Q',
    'CmdOrCtrl+0',
    'CmdOrCtrl+Plus',
    'CmdOrCtrl+=',
    'CmdOrCtrl+-',
    'CmdOrCtrl+P',
    'CmdOrCtrl+.',
    'F1',
  ]);
});

it('has developer tools only when running from source', () => {
  const hasTools = (isDevelopment: boolean): boolean =>
    flatten(menuTemplate({ ...options, isDevelopment })).some(({ role }) => role === 'toggleDevTools');
  expect([hasTools(false), hasTools(true)]).toEqual([false, true]);
});

it('sends the chosen command to the page', () => {
  const sendToPage = vi.fn<(command: WindowCommand) => void>();
  const menu = menuTemplate({ ...options, sendToPage });
  for (const label of [
    'Export Run…',
    'Attach to a Remote Run…',
    'Pause or Continue',
    'Stop Jointly…',
    'Keyboard Shortcuts',
    'Light',
  ])
    find(menu, label)();
  expect(sendToPage.mock.calls.flat()).toEqual([
    { name: 'export' },
    { name: 'attach-run' },
    { name: 'toggle-pause' },
    { name: 'stop-jointly' },
    { name: 'show-keys' },
    { name: 'set-theme', theme: 'light' },
  ]);
});

it('offers the ten projects opened last, and shows ampersands', () => {
  const openPath = vi.fn<(path: string) => void>();
  const recentFolders = Array.from({ length: 12 }, (_, index) => `/home/me/r&d/project-${index}`);
  const menu = menuTemplate({ ...options, recentFolders, openPath });
  const recent = flatten(menu).filter(({ label }) => label?.startsWith('project-'));
  expect(recent).toHaveLength(10);
  find(menu, 'project-9  (/home/me/r&&d/project-9)')();
  expect(openPath).toHaveBeenCalledWith('/home/me/r&d/project-9');
});

it('offers recent runs and files of data after the projects', () => {
  const openPath = vi.fn<(path: string) => void>();
  const recentDocuments = [{ path: '/home/me/runs/run-1', name: 'R & D' }];
  const recentOf = (recentFolders: string[]): MenuItemConstructorOptions[] => {
    const menu = menuTemplate({ ...options, recentFolders, recentDocuments, openPath });
    return flatten(menu).find(({ label }) => label === 'Open Recent')?.submenu as MenuItemConstructorOptions[];
  };
  expect(recentOf([]).map(({ label }) => label)).toEqual(['R && D  (/home/me/runs/run-1)']);
  const both = recentOf(['/projects/wine']);
  expect(both.map(({ label, type }) => label ?? type)).toEqual([
    'wine  (/projects/wine)',
    'separator',
    'R && D  (/home/me/runs/run-1)',
  ]);
  find(both, 'R && D  (/home/me/runs/run-1)')();
  expect(openPath).toHaveBeenCalledWith('/home/me/runs/run-1');
});

it('says so if there are none yet', () => {
  const isEnabled = (wanted: string) => flatten(menuTemplate(options)).find(({ label }) => label === wanted)?.enabled;
  expect(isEnabled('No recent projects, runs or files')).toBe(false);
});

it('opens the page in a browser once that can be', () => {
  const openInBrowser = vi.fn<() => void>();
  const item = (given: Partial<MenuOptions>) =>
    flatten(menuTemplate({ ...options, ...given })).find(({ label }) => label === 'Open in Browser');
  expect(item({})?.enabled).toBe(false);
  expect(item({ openInBrowser })?.enabled).toBe(true);
  find(menuTemplate({ ...options, openInBrowser }), 'Open in Browser')();
  expect(openInBrowser).toHaveBeenCalledOnce();
});

it('offers updates where the package has an address for them, and to install one that is ready', () => {
  const [setEnabled, install] = [vi.fn<(isEnabled: boolean) => void>(), vi.fn<() => void>()];
  const itemsWith = (isEnabled: boolean, readyVersion: string | null) =>
    menuTemplate({ ...options, updates: { isEnabled, readyVersion, setEnabled, install } });
  const labels = (menu: MenuItemConstructorOptions[]) => flatten(menu).map(({ label }) => label);
  expect(labels(menuTemplate(options))).not.toContain('Look for Updates');
  const off = itemsWith(false, null);
  expect(flatten(off).find(({ label }) => label === 'Look for Updates')).toMatchObject({ checked: false });
  find(off, 'Look for Updates')();
  expect(setEnabled).toHaveBeenCalledWith(true);
  find(itemsWith(true, '0.2.0'), 'Install Tutti 0.2.0 and Restart')();
  expect(install).toHaveBeenCalledOnce();
});

it('zooms with the usual keys, also with the one that has the plus sign only with Shift', () => {
  const zoom = vi.fn<MenuOptions['zoom']>();
  const items = flatten(menuTemplate({ ...options, zoom }));
  for (const key of ['CmdOrCtrl+0', 'CmdOrCtrl+Plus', 'CmdOrCtrl+=', 'CmdOrCtrl+-']) {
    const [item, ...others] = items.filter(({ accelerator }) => accelerator === key);
    expect(others).toEqual([]);
    (item.click as () => void)();
  }
  expect(zoom.mock.calls).toEqual([['reset'], ['in'], ['in'], ['out']]);
});
