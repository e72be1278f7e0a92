import { app } from 'electron';
import type { WindowCommand } from '../../core/protocol/pages/window.ts';
import type { HubService } from '../rpc/hub-service.ts';
import type { AppMenu } from './app-menu.ts';
import type { BrowserAccess } from './browser-access.ts';
import { Notices } from './training/notices.ts';
import { TrainingDisplay } from './training/training-display.ts';
import type { AppWindow } from './windows/app-window.ts';
import type { AppWindows } from './windows/app-windows.ts';

export interface DesktopOptions {
  service: HubService;
  windows: AppWindows;
  menu: AppMenu;
  browsers: BrowserAccess;
  /** Called for errors outside of awaited calls. */
  onError: (error: unknown) => void;
}

/** The desktop app around the hub: its windows, its menu, and what it shows of training outside of them. It can train without a window. */
export class DesktopApp {
  readonly #options: DesktopOptions;
  readonly #notices: Notices;
  readonly #display: TrainingDisplay;
  readonly #end: () => void;

  private constructor(options: DesktopOptions, notices: Notices, showRun: (id: string | null) => void) {
    const { service, windows, onError } = options;
    this.#options = options;
    this.#notices = notices;
    this.#display = new TrainingDisplay({
      training: service.training,
      windows,
      showRun,
      quit: () => app.quit(),
      onError,
    });
    this.#end = service.projects.subscribe((folders) => this.#projectsChanged(folders));
  }

  static async open(options: DesktopOptions): Promise<DesktopApp> {
    const { service, windows, menu, browsers, onError } = options;
    const showRun = (id: string | null): void => {
      const command = id === null ? null : ({ name: 'show-run', id } as const);
      desktop.#showPage(command).catch(onError);
    };
    const notices = await Notices.open({ runs: service.runs, showRun, onError });
    const desktop = new DesktopApp(options, notices, showRun);
    menu.update({
      recentFolders: await service.projects.remembered(),
      openInBrowser: () => void browsers.open(windows.front?.address ?? '').catch(onError),
    });
    return desktop;
  }

  /** The window in front; null without a window. */
  get front(): AppWindow | null {
    return this.#options.windows.front;
  }

  /** Brings the front window to the front, or opens those that were open last. If a folder is given, the window shows its project. */
  show(folder: string | null = null): Promise<void> {
    return this.#showPage(folder === null ? null : { name: 'show-project', folder });
  }

  /** Called before all windows close because the app quits. */
  keepWindows(): void {
    this.#options.windows.keep();
  }

  /** Called once all windows are closed. The app quits unless something trains. */
  async windowsClosed(): Promise<void> {
    const { training } = this.#options.service;
    if (process.platform === 'darwin') return;
    if (training.count > 0) {
      const runs = training.count === 1 ? 'A run continues' : `${training.count} runs continue`;
      this.#notices.show('Tutti keeps training', `${runs} without a window. Start Tutti again to see them.`, null);
      await training.ended();
    }
    if (this.front === null && training.count === 0) app.quit();
  }

  /** Closes everything that outlives the windows. */
  async close(): Promise<void> {
    this.#end();
    this.#notices.close();
    this.#display.close();
    await Promise.all([this.#options.windows.close(), this.#options.browsers.close()]);
  }

  async #showPage(command: WindowCommand | null): Promise<void> {
    const window = this.#options.windows.show();
    if (command === null) await window.loaded();
    else await window.send(command);
  }

  #projectsChanged(folders: string[]): void {
    if (folders.length > 0) app.addRecentDocument(folders[0]);
    this.#options.menu.update({ recentFolders: folders });
  }
}
