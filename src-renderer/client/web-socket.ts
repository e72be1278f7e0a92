import { rpcPath } from '../../core/protocol/pages/window.ts';
import type { Transport } from './transport.ts';

/** Connects to the hub through the server that served the page. */
export function webSocketTransport(): Transport {
  return {
    connect(listener) {
      const address = new URL(rpcPath, location.href);
      address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
      address.hash = '';
      const socket = new WebSocket(address);
      let wasOpen = false;
      socket.binaryType = 'arraybuffer';
      socket.addEventListener('open', () => {
        wasOpen = true;
        listener.opened();
      });
      socket.addEventListener('message', ({ data }: MessageEvent<ArrayBuffer>) => {
        listener.received(new Uint8Array(data));
      });
      socket.addEventListener('close', () => {
        if (wasOpen) return listener.closed(false);
        isRefused().then(
          (answer) => listener.closed(answer),
          () => listener.closed(false),
        );
      });
      return { send: (bytes) => socket.send(bytes), close: () => socket.close() };
    },
  };
}

/** A socket does not report why it could not be opened. A plain request shows whether the server accepts this page. */
async function isRefused(): Promise<boolean> {
  const { status } = await fetch(location.pathname, { cache: 'no-store' });
  return status === 401 || status === 403;
}
