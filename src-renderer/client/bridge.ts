import type { WindowBridge } from '../../core/protocol/pages/window.ts';
import type { Transport } from './transport.ts';

declare global {
  interface Window {
    /** Defined only in the desktop app, by its preload script. */
    tutti?: WindowBridge<File>;
  }
}

/** Connects to the hub in Electron's main process. It lives as long as the window, so the connection is never lost. */
export function bridgeTransport(bridge: WindowBridge<File>): Transport {
  return {
    connect(listener) {
      const end = bridge.onMessage((bytes) => listener.received(bytes));
      // The caller gets its connection only when this returns.
      queueMicrotask(() => listener.opened());
      return { send: (bytes) => bridge.send(bytes), close: end };
    },
  };
}
