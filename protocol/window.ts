import type { ListedRun } from './run-list.ts';

/** How the window reaches the hub: through Electron's main process, or through the server in a browser. */

/** Where the server has the list of runs: once as JSON, and as server-sent events, one whole list each. */
export const runListPath = '/api/runs';
export const runEventsPath = '/api/runs/events';

/** Channels between Electron's main process and its preload. */
export const runListChannel = 'runs:list';
export const runsChangedChannel = 'runs:changed';

/** What Electron's preload exposes to the page as `window.tutti`, and nothing else. */
export interface WindowBridge {
  listRuns(): Promise<ListedRun[]>;
  /** Calls `changed` with the whole list when it changes. @returns ends that */
  onRunsChanged(changed: (runs: ListedRun[]) => void): () => void;
}
