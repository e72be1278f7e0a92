import { EventEmitter } from 'node:events';
import { mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { chromiumFlags } from '../support/chromium.ts';
import { httpAddress, Session } from './session.ts';
import { Cancellable, WebContents } from './web-contents.ts';

/**
 * A stand-in for Electron's main process, as far as this app uses it: real Chromium windows, whose preload runs in a separate world. It
 * tests how the app is wired to Electron, not Electron. Tests send requests as messages of the parent process.
 */

const userData = { path: '' };

class App extends EventEmitter {
  readonly isPackaged = false;
  readonly recentDocuments: string[] = [];
  readonly #ready = Promise.withResolvers<void>();
  #isQuitting = false;

  constructor() {
    super();
    // Only after the main module has been evaluated, as with Electron.
    setImmediate(() => browser.then(() => this.#ready.resolve()).catch(fail));
  }
  whenReady(): Promise<void> {
    return this.#ready.promise;
  }
  enableSandbox(): void {}
  setAppUserModelId(): void {}
  addRecentDocument(path: string): void {
    this.recentDocuments.push(path);
  }
  setPath(_name: 'userData', path: string): void {
    userData.path = path;
  }
  /** The lock is a folder. A second process leaves a note beside it for the first one. */
  requestSingleInstanceLock(launch: object): boolean {
    const lock = join(userData.path, 'stub-lock');
    try {
      mkdirSync(lock);
    } catch {
      writeFileSync(join(lock, String(process.pid)), JSON.stringify(launch));
      return false;
    }
    process.on('exit', () => rmSync(lock, { recursive: true }));
    watch(lock, (_event, note) => {
      const text = readFileSync(join(lock, String(note)), 'utf8');
      if (text !== '') this.emit('second-instance', {}, [], '', JSON.parse(text));
    });
    return true;
  }
  quit(): void {
    if (!this.#isQuitting && !this.#allows('before-quit')) return;
    this.#isQuitting = true;
    for (const window of BrowserWindow.getAllWindows()) window.close();
    if (this.#allows('will-quit')) this.exit(0);
  }
  exit(code: number): void {
    void browser.then((context) => context.close()).finally(() => process.exit(code));
  }
  windowClosed(): void {
    if (BrowserWindow.getAllWindows().length === 0 && !this.#isQuitting) this.emit('window-all-closed');
  }
  #allows(name: string): boolean {
    const event = new Cancellable();
    this.emit(name, event);
    return !event.isPrevented;
  }
}

interface WindowOptions {
  x?: number;
  y?: number;
  width: number;
  height: number;
  webPreferences?: { preload?: string };
}

export class BrowserWindow extends EventEmitter {
  static readonly #all = new Set<BrowserWindow>();
  readonly webContents: WebContents;
  #bounds: { x: number; y: number; width: number; height: number };
  #flags = { isMaximized: false, isMinimized: false };

  static getAllWindows(): BrowserWindow[] {
    return [...BrowserWindow.#all];
  }
  constructor({ x = 100, y = 100, width, height, webPreferences = {} }: WindowOptions) {
    super();
    this.#bounds = { x, y, width, height };
    BrowserWindow.#all.add(this);
    this.webContents = new WebContents(webPreferences, session.defaultSession, openPage());
    app.emit('web-contents-created', {}, this.webContents);
  }
  async loadURL(url: string): Promise<void> {
    await this.webContents.load(httpAddress(url));
  }
  getBounds = () => this.#bounds;
  getNormalBounds = () => this.#bounds;
  setBounds(bounds: object): void {
    this.#bounds = { ...this.#bounds, ...bounds };
  }
  maximize = () => void (this.#flags.isMaximized = true);
  minimize = () => void (this.#flags.isMinimized = true);
  restore = () => void (this.#flags.isMinimized = false);
  isMaximized = () => this.#flags.isMaximized;
  isMinimized = () => this.#flags.isMinimized;
  focus = () => void this.emit('focus');
  close(): void {
    const event = new Cancellable();
    this.emit('close', event);
    if (event.isPrevented) return;
    BrowserWindow.#all.delete(this);
    this.webContents.destroy();
    void this.webContents.page.then((page) => page.close());
    this.emit('closed');
    app.windowClosed();
  }
}

interface MenuTemplate {
  label?: string;
  role?: string;
  click?: () => void;
  submenu?: MenuTemplate[];
  [name: string]: unknown;
}
interface StubMenu {
  items: (Omit<MenuTemplate, 'submenu'> & { submenu?: StubMenu })[];
}
let menu: StubMenu | null = null;
export const Menu = {
  buildFromTemplate: (template: MenuTemplate[]): StubMenu => ({
    items: template.map(({ submenu, ...item }) => ({
      ...item,
      submenu: submenu === undefined ? undefined : Menu.buildFromTemplate(submenu),
    })),
  }),
  setApplicationMenu: (shown: StubMenu) => (menu = shown),
  getApplicationMenu: () => menu,
};

export class Notification extends EventEmitter {
  readonly title: string;
  readonly body: string;
  constructor({ title, body }: { title: string; body: string }) {
    super();
    this.title = title;
    this.body = body;
  }
  static isSupported(): boolean {
    return true;
  }
  show(): void {}
}

const unanswered = async (): Promise<never> => {
  throw new Error('A dialog was opened that no test answers.');
};
export const dialog = { showOpenDialog: unanswered, showSaveDialog: unanswered, showMessageBox: unanswered };
export const protocol = { registerSchemesAsPrivileged: (): void => undefined };
export const screen = { getAllDisplays: () => [{ workArea: { x: 0, y: 0, width: 1920, height: 1080 } }] };
export const session = { defaultSession: new Session() };

const browser: Promise<BrowserContext> = openBrowser();
export const app = new App();

async function openBrowser(): Promise<BrowserContext> {
  const { STUB_CHROMIUM: executablePath, STUB_PORT: port } = process.env;
  const context = await chromium.launchPersistentContext('', {
    executablePath,
    args: [...chromiumFlags, `--remote-debugging-port=${port}`],
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
  });
  context.on('page', (page) => void refusePopup(page).catch(fail));
  return context;
}

async function openPage(): Promise<Page> {
  const context = await browser;
  const [first] = context.pages();
  const page = BrowserWindow.getAllWindows().length === 1 && first !== undefined ? first : await context.newPage();
  const cdp = await context.newCDPSession(page);
  for (const name of ['geolocation', 'notifications', 'midi']) {
    const setting = (await session.defaultSession.allows(name)) ? 'granted' : 'denied';
    await cdp.send('Browser.setPermission', { permission: { name }, setting });
  }
  return page;
}

/** Chromium opens every window itself. Windows that the app would have refused are closed again. */
async function refusePopup(page: Page): Promise<void> {
  if ((await page.opener()) === null) return;
  const [{ webContents }] = BrowserWindow.getAllWindows();
  if (webContents.openHandler({ url: page.url() }).action === 'deny') await page.close();
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(70);
}

/** Like Playwright's `electronApplication.evaluate`: receives a function's source and sends its result. */
process.on('message', ({ id, source, argument }: { id: number; source: string; argument: unknown }) => {
  const electron = { app, BrowserWindow, Menu, Notification, dialog, screen, session };
  Promise.resolve()
    .then(() => runInThisContext(`(${source})`)(electron, argument))
    .then(
      (value: unknown) => process.send?.({ id, value }),
      (error: unknown) => process.send?.({ id, error: String(error) }),
    );
});
process.on('disconnect', () => process.exit(71));
