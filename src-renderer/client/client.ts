import type { ListedRun } from '../../protocol/run-list.ts';
import type { WindowBridge } from '../../protocol/window.ts';

declare global {
  interface Window {
    /** There in Electron only, from `src-main/preload.ts`. */
    tutti?: WindowBridge;
  }
}

/** What a page hears of the hub, whichever way it reaches it. */
export interface RunListener {
  runs(list: ListedRun[]): void;
  /** The list cannot be had: what went wrong, and what to do. */
  failed(message: string): void;
  /** The hub is out of reach; `attempts` counts the tries to come back. A list that arrives ends this. */
  disconnected(attempts: number): void;
}

export interface RunListClient {
  /** Tells the list as it is now, then whenever it changes. @returns ends that */
  watch(listener: RunListener): () => void;
}
