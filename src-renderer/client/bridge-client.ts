import type { WindowBridge } from '../../protocol/window.ts';
import type { RunListClient } from './client.ts';

/** Reaches the hub in Electron's main process: it lives as long as the window, so nothing disconnects. */
export function bridgeClient(bridge: WindowBridge): RunListClient {
  return {
    watch(listener) {
      const unsubscribe = bridge.onRunsChanged((runs) => listener.runs(runs));
      bridge.listRuns().then(
        (runs) => listener.runs(runs),
        (error: unknown) => listener.failed(error instanceof Error ? error.message : String(error)),
      );
      return unsubscribe;
    },
  };
}
