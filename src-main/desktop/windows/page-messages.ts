import type { BrowserWindow, IpcMainEvent, IpcMainInvokeEvent } from 'electron';
import { maximumCallBytes, messageChannel } from '../../../core/protocol/pages/window.ts';
import type { PageWire } from '../../rpc/connection.ts';

/**
 * Whether a message comes from the window's own page, not from a frame in it or from another window. A last one may
 * arrive once the window is closed.
 */
export function isOwnPage(window: BrowserWindow, { senderFrame }: IpcMainEvent | IpcMainInvokeEvent): boolean {
  return !window.isDestroyed() && senderFrame !== null && senderFrame === window.webContents.mainFrame;
}

/**
 * Serves the window's page over Electron's messages, and again after each reload. A page whose process is gone loads
 * again, unless that happens too often.
 * @param giveUp called instead of loading the page again
 */
export function servePage(
  window: BrowserWindow,
  connect: (wire: PageWire) => () => void,
  giveUp: (reason: string) => void,
): void {
  const { webContents } = window;
  let receive: (bytes: Uint8Array) => void = () => undefined;
  let disconnect: () => void = () => undefined;
  const wire: PageWire = {
    send: (bytes) => {
      if (!webContents.isDestroyed()) webContents.send(messageChannel, bytes);
    },
    onMessage: (take) => void (receive = take),
    refuse: (reason) => {
      console.error(`The page was disconnected: ${reason}`);
      webContents.reload();
    },
  };
  webContents.on('did-start-navigation', ({ isMainFrame, isSameDocument }) => {
    if (!isMainFrame || isSameDocument) return;
    disconnect();
    disconnect = connect(wire);
  });
  webContents.ipc.on(messageChannel, (event, bytes: unknown) => {
    if (!isOwnPage(window, event)) return;
    if (bytes instanceof Uint8Array && bytes.length <= maximumCallBytes) receive(bytes);
    else wire.refuse(`it sent a message that is not at most ${maximumCallBytes} bytes`);
  });
  const crashes = new CrashCount();
  webContents.on('render-process-gone', (_event, { reason }) => {
    disconnect();
    disconnect = () => undefined;
    console.error(`The page's process is gone: ${reason}.`);
    if (crashes.isTooOften(performance.now())) giveUp(reason);
    else webContents.reload();
  });
  window.on('closed', () => disconnect());
}

/** A page that crashes more often than this within the time would crash again. */
const maximumCrashes = 3;
const periodMs = 60_000;

/** Counts the crashes of a page. */
export class CrashCount {
  #timesMs: number[] = [];

  /**
   * Counts one crash.
   * @param nowMs on any clock that never goes back
   * @returns whether there were more than three within a minute
   */
  isTooOften(nowMs: number): boolean {
    this.#timesMs = [...this.#timesMs.filter((timeMs) => nowMs - timeMs < periodMs), nowMs];
    return this.#timesMs.length > maximumCrashes;
  }
}
