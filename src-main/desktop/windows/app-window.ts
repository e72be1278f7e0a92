import { once } from 'node:events';
import { BrowserWindow, nativeTheme, screen } from 'electron';
import { commandChannel, themeChannel, type WindowCommand } from '../../../core/protocol/pages/window.ts';
import { serveDialogs } from '../dialogs.ts';
import { pageAddress } from '../page-security.ts';
import { isOwnPage, servePage } from './page-messages.ts';
import type { Connect } from '../../rpc/connection.ts';
import { minimumSize, placeWindow, themeSchema, type WindowState } from './window-state.ts';
import { tutti } from '../../../core/text/program.ts';

export interface WindowParts {
  /** The built preload. */
  preload: string;
  connect: Connect;
  /** The folder of exports, from which pages save copies. */
  exportFolder: string;
  /** Opens another window, beside the one in front, at an address of the page. */
  openBeside: (address: string) => void;
  /** Called when what {@link AppWindow.state} says has changed. */
  changed: () => void;
  /** Called when a page shows something else. @param address what it shows */
  showed: (address: string) => void;
  /** Called for errors outside of awaited calls. */
  onError: (error: unknown) => void;
}

/** Where a window opens; all but its size may be absent. */
export type WindowPlace = Partial<WindowState>;

/** A window of the app. */
export class AppWindow {
  readonly browser: BrowserWindow;
  readonly #loaded: Promise<void>;
  #address: string;
  #isClosing = false;

  constructor(parts: WindowParts, place: WindowPlace, zoom: number) {
    const { x, y, width, height, isMaximized = false, address = '' } = place;
    this.#address = address;
    const known = x === undefined || y === undefined || width === undefined || height === undefined;
    const displays = screen.getAllDisplays().map(({ workArea }) => workArea);
    this.browser = new BrowserWindow({
      ...placeWindow(known ? null : { x, y, width, height }, displays),
      minWidth: minimumSize.width,
      minHeight: minimumSize.height,
      title: 'Tutti',
      backgroundColor: canvasColor(),
      webPreferences: {
        preload: parts.preload,
        contextIsolation: true,
        sandbox: true,
        nodeIntegration: false,
        spellcheck: false,
        zoomFactor: zoom,
      },
    });
    if (isMaximized) this.browser.maximize();
    this.#servePage(parts);
    this.#follow(parts);
    this.#loaded = this.browser.loadURL(addressOf(address)).catch((error: unknown) => {
      // A window may be closed while its page loads.
      if (!this.#isClosing) throw error;
    });
    this.#loaded.catch(parts.onError);
  }

  /** Where it is and what it shows, for the next start. */
  get state(): WindowState {
    const { x, y, width, height } = this.browser.getNormalBounds();
    return { x, y, width, height, isMaximized: this.browser.isMaximized(), address: this.#address };
  }

  get zoom(): number {
    return this.browser.webContents.getZoomFactor();
  }

  /** What its page shows: the part of its address after `#`. */
  get address(): string {
    return this.#address;
  }

  bringToFront(): void {
    if (this.browser.isMinimized()) this.browser.restore();
    this.browser.focus();
  }

  /** Resolves once its page shows something for the first time, which is before it has loaded. */
  async drawn(): Promise<void> {
    await Promise.race([once(this.browser, 'ready-to-show'), this.#loaded]);
  }

  /** Resolves once its page has loaded. */
  loaded(): Promise<void> {
    return this.#loaded;
  }

  /** Sends a command to the page, once that has loaded. */
  async send(command: WindowCommand): Promise<void> {
    await this.#loaded;
    if (!this.browser.isDestroyed()) this.browser.webContents.send(commandChannel, command);
  }

  #servePage({ connect, exportFolder, openBeside, changed, onError }: WindowParts): void {
    const { browser } = this;
    servePage(browser, connect, (reason) => browser.loadURL(crashPage(reason)).catch(onError));
    serveTheme(browser, changed);
    serveDialogs(browser, exportFolder);
    // A link to a page of the app that is opened with Ctrl, or by the command for it, opens in a window of the app; any
    // other opens nowhere.
    browser.webContents.setWindowOpenHandler(({ url }) => {
      const address = ownAddress(url);
      if (address !== null) openBeside(address);
      return { action: 'deny' };
    });
  }

  #follow({ changed, showed }: WindowParts): void {
    const { browser } = this;
    browser.on('close', () => (this.#isClosing = true));
    for (const event of ['resize', 'move', 'maximize', 'unmaximize', 'focus'] as const)
      browser.on(event as 'resize', changed);
    browser.webContents.on('did-navigate-in-page', (_event, url, isMainFrame) => {
      if (!isMainFrame) return;
      this.#address = ownAddress(url) ?? this.#address;
      changed();
      showed(this.#address);
    });
  }
}

function addressOf(address: string): string {
  return address === '' ? pageAddress : `${pageAddress}#${address}`;
}

/** The part after `#` of an address of the app's page; null for any other. */
function ownAddress(url: string): string | null {
  if (url !== pageAddress && !url.startsWith(`${pageAddress}#`)) return null;
  return new URL(url).hash.slice(1);
}

/**
 * The address of a page that says why the window is empty. It needs no files, no scripts and no hub.
 * @param reason of Electron, such as "oom"
 */
function crashPage(reason: string): string {
  const text = [
    '<!doctype html><meta charset="utf-8"><title>Tutti</title>',
    '<body style="font: 15px system-ui; max-width: 40em; margin: 20vh auto; padding: 0 1em; color-scheme: light dark">',
    '<h1 style="font-size: 20px">The page crashed four times within a minute</h1>',
    `<p>Its process ended each time (${encodeText(reason)}). Runs continue: they do not need the page.</p>`,
    `<p>Choose View, Reload to try again. If it crashes again, start Tutti with <code>${tutti} dashboard ` +
      '--browser</code>, which shows the same pages in a browser.</p>',
  ].join('\n');
  return `data:text/html;charset=utf-8,${encodeURIComponent(text)}`;
}

function encodeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Menus and dialogs of the system follow the theme that the page uses. @param changed called once they do */
function serveTheme(window: BrowserWindow, changed: () => void): void {
  window.webContents.ipc.on(themeChannel, (event, theme: unknown) => {
    if (!isOwnPage(window, event)) return;
    nativeTheme.themeSource = themeSchema.parse(theme);
    changed();
  });
}

/** The colour of a window before its page is drawn: `--canvas` of the pages. */
function canvasColor(): string {
  return nativeTheme.shouldUseDarkColors ? '#0f1215' : '#f6f7f9';
}
