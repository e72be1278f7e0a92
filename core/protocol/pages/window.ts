import { countEpoch } from '../../text/numbers.ts';
import type { ActiveRun, RunRow } from './run-list.ts';

/** A page reaches the hub (`rpc.ts`) by a WebSocket to the server that it came from, or by Electron's messages. */

/** The server's path for WebSockets. Each binary message is one call or answer (`rpc.ts`). */
export const rpcPath = '/rpc';

/**
 * The subprotocol of these WebSockets. The page requests it, and beside it a proof of its key, because it cannot set
 * other headers.
 */
export const rpcProtocol = 'tutti';

/** The name of the page's key in the browser's storage. The page never sends it. */
export const pageKeyName = 'tutti-key';

/**
 * The path that answers with a challenge, for which the page proves that it has its key (`src-main/server/access.ts`).
 */
export const challengePath = '/challenge';

/**
 * The header in which the page asks whether the server still accepts it: challenge and proof, with a dot between them.
 */
export const pageProofName = 'tutti-proof';

/** The path that has the server print a new link on its terminal, for a page without a session. */
export const askLinkPath = '/ask-link';

/** Maximum size of a call from a page. Only answers are large. */
export const maximumCallBytes = 2 ** 20;

/** Channels between Electron's main process and its preload. */
export const messageChannel = 'tutti:message';
export const openFolderChannel = 'tutti:open-folder';
export const saveFileChannel = 'tutti:save-file';
export const commandChannel = 'tutti:command';
export const themeChannel = 'tutti:theme';

/** Commands of the desktop app to its page, from menu items, opened folders and clicked notifications. */
export type WindowCommand =
  | { name: 'open'; path: string }
  | { name: 'show-run'; id: string }
  | { name: 'set-theme'; theme: 'system' | 'light' | 'dark' }
  | { name: 'toggle-pause' }
  | { name: 'stop-jointly' }
  | { name: 'export' }
  | { name: 'attach-run' }
  | { name: 'show-keys' };

/**
 * The functions that Electron's preload exposes to the page as `window.tutti`.
 * @typeParam DroppedFile the browser's `File`, a type that is not available here
 */
export interface WindowBridge<DroppedFile> {
  /** Sends one call or answer (`rpc.ts`). */
  send(bytes: Uint8Array): void;
  /** Calls `receive` with each message of the hub. @returns a function that unsubscribes */
  onMessage(receive: (bytes: Uint8Array) => void): () => void;
  /** Calls `receive` with each command of the desktop app. @returns a function that unsubscribes */
  onCommand(receive: (command: WindowCommand) => void): () => void;
  /** The path of a file or folder that was dropped on the page; `''` if it is not on a disk. */
  pathOf(dropped: DroppedFile): string;
  /** Lets the user choose a folder; null if the user cancels. */
  openFolder(): Promise<string | null>;
  /**
   * Lets the user choose where to save a copy of an export (`exportRun`'s path).
   * @returns the chosen path; null if the user cancels
   */
  saveFile(exported: string): Promise<string | null>;
  /** Says which theme the page uses, so that menus and dialogs do too. */
  useTheme(theme: 'system' | 'light' | 'dark'): void;
}

/** A notification about a run that has ended, in the desktop app and in the browser. */
export interface RunNotice {
  id: string;
  title: string;
  body: string;
}

/** Part of the error message of a run that ended with a NaN or infinite loss (`NonFiniteLossError`). */
const nonFiniteLoss = 'was not finite';

/** The ids of runs that were active before and are not any more. */
export function endedIds(before: readonly ActiveRun[], after: readonly ActiveRun[]): string[] {
  const active = new Set(after.map(({ id }) => id));
  return before.map(({ id }) => id).filter((id) => !active.has(id));
}

/** The notice of a run that has ended. */
export function noticeOfEnd(row: RunRow): RunNotice {
  return { id: row.id, title: `${row.name} ${whatHappened(row)}`, body: details(row) };
}

function whatHappened({ status, error }: RunRow): string {
  if (status === 'failed') return error?.includes(nonFiniteLoss) ? 'diverged' : 'failed';
  return status === 'stopped' ? 'was stopped' : status === 'interrupted' ? 'was interrupted' : 'has finished';
}

/** The first line of the error, else the best value. */
function details({ project, best, error }: RunRow): string {
  if (error !== null) return error.split('\n')[0];
  if (best === null) return project;
  return `${project}: best ${best.metric} ${best.value.toPrecision(4)} at epoch ${countEpoch(best.epoch)}`;
}
