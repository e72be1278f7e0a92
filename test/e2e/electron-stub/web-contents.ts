import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CDPSession, Page, Route } from '@playwright/test';
import { decodeClone, encodeClone } from './clone.ts';
import {
  fromMain,
  type FromPreload,
  pageScript,
  preloadScript,
  preloadWorld,
  toMain,
  type ToPreload,
} from './preload-world.ts';
import type { Session } from './session.ts';

type Handler = (event: { senderFrame: unknown }, ...args: unknown[]) => unknown;

/** An event that listeners can cancel. */
export class Cancellable {
  isPrevented = false;
  [name: string]: unknown;
  preventDefault(): void {
    this.isPrevented = true;
  }
}

class ContentsIpc extends EventEmitter {
  readonly handlers = new Map<string, Handler>();
  handle(channel: string, handler: Handler): void {
    this.handlers.set(channel, handler);
  }
}

/** A page of Chromium with the preload in a separate world, like the `webContents` of a window. */
export class WebContents extends EventEmitter {
  readonly mainFrame = { isMainFrame: true };
  readonly ipc = new ContentsIpc();
  readonly preferences: { preload?: string };
  readonly page: Promise<Page>;
  openHandler: (details: { url: string }) => { action: 'allow' | 'deny' } = () => ({ action: 'allow' });
  #session: CDPSession | null = null;
  #world: number | null = null;
  /** Set while the main process navigates. */
  #isLoading = false;

  constructor(preferences: { preload?: string }, session: Session, opened: Promise<Page>) {
    super();
    this.preferences = preferences;
    this.page = opened.then(async (page) => {
      // Before anything loads, so that no request bypasses the app's checks.
      await page.route('**/*', (route) => session.answer(this, route));
      await this.#prepare(page);
      return page;
    });
  }

  isDestroyed(): boolean {
    return this.#session === null;
  }

  getLastWebPreferences(): object {
    return this.preferences;
  }

  setWindowOpenHandler(handler: WebContents['openHandler']): void {
    this.openHandler = handler;
  }

  async load(address: string): Promise<void> {
    await this.#navigate((page) => page.goto(address));
  }

  reload(): void {
    // A later one replaces it, so nobody waits for it.
    this.#navigate((page) => page.reload()).catch(() => undefined);
  }

  send(channel: string, ...args: unknown[]): void {
    this.#tell({ channel, args });
  }

  /** Drops a file or folder on the middle of the page. */
  async drop(path: string): Promise<void> {
    this.#tell({ name: basename(path), path });
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await this.#session?.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
    }
  }

  /** @returns whether a navigation may continue */
  allowsNavigation(route: Route): boolean {
    if (!route.request().isNavigationRequest()) return true;
    const details = { url: route.request().url(), isMainFrame: true, isSameDocument: false };
    const event = Object.assign(new Cancellable(), details);
    if (!this.#isLoading) this.emit('will-navigate', event, event.url);
    if (!event.isPrevented) this.emit('did-start-navigation', event);
    return !event.isPrevented;
  }

  destroy(): void {
    this.#session = null;
  }

  async #navigate(go: (page: Page) => Promise<unknown>): Promise<void> {
    const page = await this.page;
    this.#isLoading = true;
    await go(page).finally(() => (this.#isLoading = false));
  }

  async #prepare(page: Page): Promise<void> {
    const session = await page.context().newCDPSession(page);
    session.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === preloadWorld) this.#world = context.id;
    });
    session.on('Runtime.bindingCalled', ({ name, payload }) => {
      if (name === toMain) void this.#hear(payload);
    });
    await session.send('Runtime.enable');
    await session.send('Page.enable');
    await session.send('Runtime.addBinding', { name: toMain, executionContextName: preloadWorld });
    await session.send('Page.addScriptToEvaluateOnNewDocument', { source: pageScript });
    const { preload } = this.preferences;
    if (preload !== undefined) {
      const source = preloadScript(await readFile(preload, 'utf8'));
      await session.send('Page.addScriptToEvaluateOnNewDocument', { source, worldName: preloadWorld });
    }
    this.#session = session;
  }

  async #hear(payload: string): Promise<void> {
    const { channel, args, asks } = decodeClone(
      payload,
      (text) => new Uint8Array(Buffer.from(text, 'base64')),
    ) as FromPreload;
    const event = { senderFrame: this.mainFrame };
    if (asks === undefined) return void this.ipc.emit(channel, event, ...args);
    try {
      const handler = this.ipc.handlers.get(channel);
      if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
      this.#tell({ answers: asks, value: await handler(event, ...args) });
    } catch (error) {
      this.#tell({ answers: asks, error: `Error invoking remote method '${channel}': ${String(error)}` });
    }
  }

  #tell(message: ToPreload): void {
    const text = encodeClone(message, (bytes) => Buffer.from(bytes).toString('base64'));
    const expression = `${fromMain}(${JSON.stringify(text)})`;
    // As with Electron, messages to a missing or closed page are lost.
    if (this.#world === null) return;
    this.#session?.send('Runtime.evaluate', { expression, contextId: this.#world }).catch(() => undefined);
  }
}
