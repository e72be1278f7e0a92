import { pageKeyName, rpcPath, rpcProtocol } from '../../core/protocol/pages/window.ts';
import type { Transport } from './transport.ts';

/** Connects to the hub through the server that served the page. */
export function webSocketTransport(): Transport {
  return {
    connect(listener) {
      const address = new URL(rpcPath, location.href);
      address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
      address.hash = '';
      const socket = new WebSocket(address, [rpcProtocol, pageKey()]);
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

/** The key that the link's page stored for this origin. Without one, the server refuses any text. */
function pageKey(): string {
  return localStorage.getItem(pageKeyName) ?? 'none';
}

/** A socket does not report why it could not be opened. A plain request shows whether the server accepts this page. */
async function isRefused(): Promise<boolean> {
  const { status } = await fetch(rpcPath, { cache: 'no-store', headers: { [pageKeyName]: pageKey() } });
  return [401, 403, 429].includes(status);
}
