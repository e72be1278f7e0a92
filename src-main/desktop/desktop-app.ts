import { app, BrowserWindow, Menu, Notification, screen } from 'electron';
import { noticesOfEnds } from '../../core/protocol/pages/notice.ts';
import type { RunRow } from '../../core/protocol/pages/run-views.ts';
import { commandChannel, type WindowCommand } from '../../core/protocol/pages/window.ts';
import type { HubService } from '../rpc/hub-service.ts';
import { homePaths } from '../store/home.ts';
import { pageAddress } from './page-security.ts';
import { chooseFolder, serveDialogs } from './dialogs.ts';
import { menuTemplate } from './menu.ts';
import { servePage } from './page-messages.ts';
import { minimumSize, placeWindow, readWindowState, type WindowState, writeWindowState } from './window-state.ts';

export interface DesktopOptions {
  service: HubService;
  /** The built preload. */
  preload: string;
  /** Told of what went wrong where nobody waits for it. */
  onError: (error: unknown) => void;
}

/** The app around the hub: at most one window, its menu, and notifications. It may train without a window. */
export class DesktopApp {
  readonly #options: DesktopOptions;
  #state: WindowState | null;
  #window: BrowserWindow | null = null;
  /** Resolves once the window's page listens. */
  #page: Promise<void> = Promise.resolve();
  #saving: Promise<void> = Promise.resolve();
  readonly #ends: (() => void)[] = [];
  /** Those that can still be clicked: they are heard only as long as they are held. */
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
    let rows: RunRow[] = await service.runs.list();
    desktop.#ends.push(
      service.projects.subscribe((folders) => desktop.#projectsChanged(folders)),
      service.runs.subscribe((now) => {
        for (const { id, title, body } of noticesOfEnds(rows, now)) desktop.#notify(title, body, id);
        rows = now;
      }),
    );
    return desktop;
  }

  get window(): BrowserWindow | null {
    return this.#window;
  }

  /** Brings the window to the front, or opens one; where a folder is given, its project is shown in it. */
  async show(folder: string | null = null): Promise<void> {
    this.#window ??= this.#createWindow();
    if (this.#window.isMinimized()) this.#window.restore();
    this.#window.focus();
    if (folder === null) await this.#page;
    else await this.#tellPage({ name: 'show-project', folder });
  }

  /** Closing the window ends nothing while something trains. */
  async windowsClosed(): Promise<void> {
    const { service } = this.#options;
    if (process.platform === 'darwin') return;
    const count = service.liveRunCount;
    if (count > 0) {
      const runs = count === 1 ? 'A run goes on' : `${count} runs go on`;
      this.#notify('Tutti keeps training', `${runs} without a window. Start Tutti again to see more.`, null);
      await service.liveRunsEnded();
    }
    if (this.#window === null && service.liveRunCount === 0) app.quit();
  }

  /** Ends what outlives the window. */
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
      webPreferences: { preload, contextIsolation: true, sandbox: true, nodeIntegration: false },
    });
    if (this.#state?.isMaximized === true) window.maximize();
    servePage(window, (wire) => service.connect(wire));
    serveDialogs(window, homePaths().exports);
    window.on('close', () => {
      this.#state = { ...window.getNormalBounds(), isMaximized: window.isMaximized() };
      this.#saving = writeWindowState(homePaths().window, this.#state).catch(onError);
    });
    window.on('closed', () => (this.#window = null));
    this.#page = window.loadURL(pageAddress);
    return window;
  }

  async #tellPage(command: WindowCommand): Promise<void> {
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
      tellPage: (command) =>
        void this.show()
          .then(() => this.#tellPage(command))
          .catch(onError),
    });
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  }

  async #chooseProject(): Promise<void> {
    await this.show();
    const folder = this.#window === null ? null : await chooseFolder(this.#window);
    if (folder !== null) await this.show(folder);
  }

  /** @param run shown when the notification is clicked; null for none in particular */
  #notify(title: string, body: string, run: string | null): void {
    const { onError } = this.#options;
    if (!Notification.isSupported()) return;
    const notification = new Notification({ title, body });
    notification.on('click', () => {
      const shown = this.show();
      (run === null ? shown : shown.then(() => this.#tellPage({ name: 'show-run', id: run }))).catch(onError);
    });
    notification.on('close', () => this.#notifications.delete(notification));
    this.#notifications.add(notification);
    notification.show();
  }
}
