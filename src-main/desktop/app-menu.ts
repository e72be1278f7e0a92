import { app, type BrowserWindow, Menu } from 'electron';
import type { WindowCommand } from '../../core/protocol/pages/window.ts';
import { showAbout } from './about.ts';
import { chooseData, chooseExport, chooseFolder } from './dialogs.ts';
import { menuTemplate, type RecentDocuments, type UpdateItems } from './menu.ts';
import type { AppWindows } from './windows/app-windows.ts';

/** What the menu shows that is only known once the hub is open. */
export interface MenuParts {
  /** Folders of opened projects, the most recent first. */
  recentFolders: readonly string[];
  /** Runs and files of data whose pages were shown, the most recent first. */
  recentDocuments: RecentDocuments;
  /** Updates; null where the package has no address for them. */
  updates: UpdateItems | null;
  /** Opens the page that the front window shows in a browser; null while that cannot be. */
  openInBrowser: (() => void) | null;
}

/** The app's menu. It is there before the first window, so that it does not change while that opens. */
export class AppMenu {
  readonly #windows: AppWindows;
  readonly #onError: (error: unknown) => void;
  #parts: MenuParts = { recentFolders: [], recentDocuments: [], updates: null, openInBrowser: null };

  constructor(windows: AppWindows, onError: (error: unknown) => void) {
    this.#windows = windows;
    this.#onError = onError;
    this.update({});
  }

  /** Shows the menu with some parts changed. */
  update(parts: Partial<MenuParts>): void {
    this.#parts = { ...this.#parts, ...parts };
    const windows = this.#windows;
    const send = (command: WindowCommand): void => void windows.show().send(command).catch(this.#onError);
    const template = menuTemplate({
      platform: process.platform,
      isDevelopment: !app.isPackaged,
      ...this.#parts,
      chooseProject: () => void this.#choose(chooseFolder).catch(this.#onError),
      chooseData: () => void this.#choose(chooseData).catch(this.#onError),
      chooseExport: () => void this.#choose(chooseExport).catch(this.#onError),
      openPath: (path) => send({ name: 'open', path }),
      newWindow: () => void windows.openBeside(''),
      duplicateWindow: () => void windows.openBeside(windows.front?.address ?? ''),
      showAbout: () => void showAbout(windows.front?.browser ?? null).catch(this.#onError),
      zoom: (change) => windows.zoom(change),
      sendToPage: send,
    });
    Menu.setApplicationMenu(Menu.buildFromTemplate(template));
  }

  async #choose(ask: (window: BrowserWindow) => Promise<string | null>): Promise<void> {
    const window = this.#windows.show();
    const path = await ask(window.browser);
    if (path !== null) await window.send({ name: 'open', path });
  }
}
