import { nativeTheme, session } from 'electron';
import { AppWindow, type WindowParts, type WindowPlace } from './app-window.ts';
import { besideWindow, type DesktopState, type WindowState } from './window-state.ts';

export type ZoomChange = 'in' | 'out' | 'reset';

/** The same as Chromium's own steps, in its levels: a level is 20 %. */
const zoomStep = 0.5;

/** Moving a window reports every pixel. */
const settleMs = 500;

export interface WindowsOptions extends Omit<WindowParts, 'changed' | 'showed' | 'openBeside'> {
  /** What was open last. */
  state: DesktopState;
  /** Keeps what is open for the next start. */
  save: (state: DesktopState) => Promise<void>;
}

/**
 * The windows of the app, none or several. They are kept while the app runs, so that also one that was killed restores
 * them.
 */
export class AppWindows {
  readonly #options: WindowsOptions;
  readonly #parts: WindowParts;
  /** The one that had the focus last is the last. */
  #open: AppWindow[] = [];
  /** What the next start restores while no window is open, or once the app quits. */
  #kept: WindowState[];
  #zoom: number;
  #isQuitting = false;
  #settling: NodeJS.Timeout | null = null;
  #saving: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<() => void>();
  readonly #addresses = new Set<(address: string) => void>();

  constructor(options: WindowsOptions) {
    this.#options = options;
    this.#kept = options.state.windows;
    this.#zoom = options.state.zoom;
    nativeTheme.themeSource = options.state.theme;
    this.#parts = {
      ...options,
      changed: () => this.#changed(),
      showed: (address) => this.#addresses.forEach((listener) => listener(address)),
      openBeside: (address) => void this.openBeside(address),
    };
  }

  /** All windows, the one in front last. */
  get all(): readonly AppWindow[] {
    return this.#open;
  }

  /** The one in front; null without a window. */
  get front(): AppWindow | null {
    return this.#open.at(-1) ?? null;
  }

  /** Calls the listener after a window was opened or closed. @returns a function that unsubscribes */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener with what a page shows from now on. @returns a function that unsubscribes */
  onAddress(listener: (address: string) => void): () => void {
    this.#addresses.add(listener);
    return () => this.#addresses.delete(listener);
  }

  /** Brings the front window to the front of all programs. Without one, opens those that were open last. */
  show(): AppWindow {
    if (this.#open.length === 0) {
      const places: readonly WindowPlace[] = this.#kept.length === 0 ? [{}] : this.#kept;
      for (const place of places) this.#create(place);
    }
    const front = this.#open[this.#open.length - 1];
    front.bringToFront();
    return front;
  }

  /** Opens one more window. @param address what its page shows: the part of its address after `#` */
  openBeside(address: string): AppWindow {
    const { front } = this;
    const bounds = front?.state;
    return this.#create({ ...(bounds === undefined ? {} : besideWindow(bounds)), address });
  }

  /** Changes the zoom. Chromium keeps it by the address of a page, so that all windows have the same. */
  zoom(change: ZoomChange): void {
    const { front } = this;
    if (front === null) return;
    const { webContents } = front.browser;
    const level = webContents.getZoomLevel();
    webContents.setZoomLevel(change === 'reset' ? 0 : level + (change === 'in' ? zoomStep : -zoomStep));
    this.#changed();
  }

  /** Called before all windows close because the app quits: the next start restores them all. */
  keep(): void {
    if (this.#open.length > 0) this.#keepOpen();
    this.#isQuitting = true;
  }

  /** Resolves once what is open is saved. */
  async close(): Promise<void> {
    this.#save();
    await this.#saving;
  }

  #create(place: WindowPlace): AppWindow {
    this.#isQuitting = false;
    const window = new AppWindow(this.#parts, place, this.#zoom);
    this.#open.push(window);
    window.browser.on('focus', () => {
      this.#open = [...this.#open.filter((other) => other !== window), window];
    });
    window.browser.on('close', () => this.#keepOpen());
    window.browser.on('closed', () => {
      this.#open = this.#open.filter((other) => other !== window);
      if (this.#open.length > 0) this.#keepOpen();
      this.#changed();
      this.#tell();
    });
    this.#changed();
    this.#tell();
    return window;
  }

  /** A window that closes alone is gone at the next start, but for the last one. */
  #keepOpen(): void {
    if (this.#isQuitting) return;
    this.#kept = this.#open.map(({ state }) => state);
    this.#zoom = this.front?.zoom ?? this.#zoom;
  }

  #changed(): void {
    this.#settling ??= setTimeout(() => this.#save(), settleMs);
  }

  #save(): void {
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#settling = null;
    if (this.#open.length > 0) this.#keepOpen();
    const state = { windows: this.#kept, zoom: this.#zoom, theme: nativeTheme.themeSource };
    // Chromium would write what pages store, such as the theme, up to a minute later.
    session.defaultSession.flushStorageData();
    this.#saving = this.#saving.then(() => this.#options.save(state)).catch(this.#options.onError);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
