import type { WindowBridge } from '../../core/protocol/pages/window.ts';
import type { Transport } from './transport.ts';

declare global {
  interface Window {
    /** There in the desktop app only, from `src-main/preload.ts`. */
    tutti?: WindowBridge<File>;
  }
}

/** Reaches the hub in Electron's main process: it lives as long as the window, so nothing disconnects. */
export function bridgeTransport(bridge: WindowBridge<File>): Transport {
  return {
    connect(listener) {
      const end = bridge.onMessage((bytes) => listener.received(bytes));
      // The caller has its connection only once this returns.
      queueMicrotask(() => listener.opened());
      return { send: (bytes) => bridge.send(bytes), close: end };
    },
  };
}
