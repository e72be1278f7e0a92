/** How a page reaches the hub (`rpc.ts`): by a WebSocket to the server it came from, or by Electron's messages. */

/** Where the server takes WebSockets. Each binary message is one call or answer, as `rpc-codec.ts` writes it. */
export const rpcPath = '/rpc';

/** Maximum size of a call from a page. Only answers are large. */
export const maximumCallBytes = 2 ** 20;

/** Channels between Electron's main process and its preload. */
export const messageChannel = 'tutti:message';
export const openFolderChannel = 'tutti:open-folder';
export const saveFileChannel = 'tutti:save-file';
export const commandChannel = 'tutti:command';

/** What the desktop app asks of its page: menu items, folders it was given, notifications that were clicked. */
export type WindowCommand =
  | { name: 'show-project'; folder: string }
  | { name: 'show-run'; id: string }
  | { name: 'set-theme'; theme: 'system' | 'light' | 'dark' }
  | { name: 'toggle-pause' }
  | { name: 'stop-jointly' }
  | { name: 'export' }
  | { name: 'show-keys' };

/**
 * What Electron's preload exposes to the page as `window.tutti`, and nothing else.
 * @typeParam DroppedFile the browser's `File`, which is not known here
 */
export interface WindowBridge<DroppedFile> {
  /** One call or answer, as `rpc-codec.ts` writes it. */
  send(bytes: Uint8Array): void;
  /** Calls `receive` with each message of the hub. @returns ends that */
  onMessage(receive: (bytes: Uint8Array) => void): () => void;
  /** Calls `receive` with each command of the desktop app. @returns ends that */
  onCommand(receive: (command: WindowCommand) => void): () => void;
  /** Where a file or folder lies that was dropped on the page; `''` for one that is not on a disk. */
  pathOf(dropped: DroppedFile): string;
  /** Lets the user choose a folder; null when that was called off. */
  openFolder(): Promise<string | null>;
  /** Lets the user choose where to keep a copy of an export (`exportRun`'s path). @returns where; null when called off */
  saveFile(exported: string): Promise<string | null>;
}
