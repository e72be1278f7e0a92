import { app, BrowserWindow, Menu, Notification, screen } from 'electron';
import { endedIds, noticeOfEnd } from '../../core/protocol/pages/notice.ts';
import { commandChannel, type WindowCommand } from '../../core/protocol/pages/window.ts';
import type { HubService } from '../rpc/hub-service.ts';
import { homePaths } from '../store/home.ts';
import { pageAddress } from './page-security.ts';
import { chooseFolder, serveDialogs } from './dialogs.ts';
import { menuTemplate } from './menu.ts';
import { crashPage } from './crash-page.ts';
import { servePage } from './page-messages.ts';
import { serveTheme } from './theme.ts';
import { minimumSize, placeWindow, readWindowState, type WindowState, writeWindowState } from './window-state.ts';

export interface DesktopOptions {
  service: HubService;
  /** The built preload. */
  preload: string;
  /** Called for errors outside of awaited calls. */
  onError: (error: unknown) => void;
}

/** The desktop app around the hub: at most one window, its menu, and notifications. It can train without a window. */
export class DesktopApp {
  readonly #options: DesktopOptions;
  #state: WindowState | null;
  #window: BrowserWindow | null = null;
  /** Resolves once the window's page has loaded. */
  #page: Promise<void> = Promise.resolve();
  #saving: Promise<void> = Promise.resolve();
  readonly #ends: (() => void)[] = [];
  /** Notifications that can still be clicked. Their events only arrive while they are referenced. */
  readonly #notifications = new Set<Notification>();

  private constructor(options: DesktopOptions, state: WindowState | null) {
    this.#options = options;
    this.#state = state;
  }

  static async open(options: DesktopOptions): Promise<DesktopApp> {
    const { service, onError } = options;
    const state = await readWindowState(homePaths().window).catch((error: unknown) => {
      onError(error);
      return null;
    });
    const desktop = new DesktopApp(options, state);
    desktop.#showMenu(await service.projects.remembered());
    let { active } = await service.runs.overview();
    const tellEnds = async (ids: string[]): Promise<void> => {
      for (const { id, title, body } of (await service.runs.page({ ids })).rows.map(noticeOfEnd)) {
        desktop.#notify(title, body, id);
      }
    };
    desktop.#ends.push(
      service.projects.subscribe((folders) => desktop.#projectsChanged(folders)),
      service.runs.subscribe(({ overview }) => {
        if (overview === null) return;
        const ended = endedIds(active, overview.active);
        active = overview.active;
        if (ended.length > 0) tellEnds(ended).catch(onError);
      }),
    );
    return desktop;
  }

  get window(): BrowserWindow | null {
    return this.#window;
  }

  /** Brings the window to the front, or opens one. If a folder is given, the window shows its project. */
  async show(folder: string | null = null): Promise<void> {
    this.#window ??= this.#createWindow();
    if (this.#window.isMinimized()) this.#window.restore();
    this.#window.focus();
    if (folder === null) await this.#page;
    else await this.#sendToPage({ name: 'show-project', folder });
  }

  /** Called once all windows are closed. The app quits unless runs train. */
  async windowsClosed(): Promise<void> {
    const { service } = this.#options;
    if (process.platform === 'darwin') return;
    const count = service.liveRunCount;
    if (count > 0) {
      const runs = count === 1 ? 'A run continues' : `${count} runs continue`;
      this.#notify('Tutti keeps training', `${runs} without a window. Start Tutti again to see them.`, null);
      await service.liveRunsEnded();
    }
    if (this.#window === null && service.liveRunCount === 0) app.quit();
  }

  /** Closes everything that outlives the window. */
  async close(): Promise<void> {
    for (const end of this.#ends) end();
    await this.#saving;
  }

  #createWindow(): BrowserWindow {
    const { service, preload, onError } = this.#options;
    const displays = screen.getAllDisplays().map(({ workArea }) => workArea);
    const window = new BrowserWindow({
      ...placeWindow(this.#state, displays),
      minWidth: minimumSize.width,
      minHeight: minimumSize.height,
      title: 'Tutti',
      webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false, spellcheck: false },
    });
    if (this.#state?.isMaximized === true) window.maximize();
    servePage(
      window,
      (wire) => service.connect(wire, 'owner'),
      (reason) => window.loadURL(crashPage(reason)).catch(onError),
    );
    serveTheme(window);
    serveDialogs(window, homePaths().exports);
    window.on('close', () => {
      this.#state = { ...window.getNormalBounds(), isMaximized: window.isMaximized() };
      this.#saving = writeWindowState(homePaths().window, this.#state).catch(onError);
    });
    window.on('closed', () => (this.#window = null));
    this.#page = window.loadURL(pageAddress);
    return window;
  }

  async #sendToPage(command: WindowCommand): Promise<void> {
    await this.#page;
    this.#window?.webContents.send(commandChannel, command);
  }

  #projectsChanged(folders: string[]): void {
    if (folders.length > 0) app.addRecentDocument(folders[0]);
    this.#showMenu(folders);
  }

  #showMenu(recentFolders: readonly string[]): void {
    const { onError } = this.#options;
    const template = menuTemplate({
      platform: process.platform,
      isDevelopment: !app.isPackaged,
      recentFolders,
      chooseProject: () => void this.#chooseProject().catch(onError),
      openProject: (folder) => void this.show(folder).catch(onError),
      sendToPage: (command) =>
        void this.show()
          .then(() => this.#sendToPage(command))
          .catch(onError),
    });
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  }

  async #chooseProject(): Promise<void> {
    await this.show();
    const folder = this.#window === null ? null : await chooseFolder(this.#window);
    if (folder !== null) await this.show(folder);
  }

  /** @param run the run to show when the notification is clicked; null for none */
  #notify(title: string, body: string, run: string | null): void {
    const { onError } = this.#options;
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title, body });
    notification.on('click', () => {
      const shown = this.show();
      (run === null ? shown : shown.then(() => this.#sendToPage({ name: 'show-run', id: run }))).catch(onError);
    });
    notification.on('failed', (_event, error) =>
      console.error(`The system did not show the notification "${title}"${error === '' ? '' : `: ${error}`}.`),
    );
    notification.on('close', () => this.#notifications.delete(notification));
    this.#notifications.add(notification);
    notification.show();
  }
}
