import {
  askLinkPath,
  challengePath,
  pageKeyName,
  pageProofName,
  rpcPath,
  rpcProtocol,
} from '../../core/protocol/pages/window.ts';
import { proofOf } from './session-proof.ts';
import type { ConnectionListener, Transport } from './hub-client.ts';

/** Connects to the hub through the server that served the page. */
export function webSocketTransport(): Transport {
  return {
    connect(listener) {
      let socket: WebSocket | null = null;
      let isClosed = false;
      const open = async (): Promise<void> => {
        const proof = await newProof();
        if (proof === null || isClosed) listener.closed(proof === null);
        else socket = openSocket(proof, listener);
      };
      open().catch(() => listener.closed(false));
      return {
        send: (bytes) => socket?.send(bytes),
        close() {
          isClosed = true;
          socket?.close();
        },
      };
    },
  };
}

function openSocket(proof: string, listener: ConnectionListener): WebSocket {
  const address = new URL(rpcPath, location.href);
  address.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  address.hash = '';
  const socket = new WebSocket(address, [rpcProtocol, proof]);
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
  return socket;
}

/** Calls `changed` when a link was opened in another tab, so that this one has a key that the server accepts. */
export function onNewKey(changed: () => void): void {
  window.addEventListener('storage', ({ key }) => {
    if (key === pageKeyName) changed();
  });
}

/** Has the server print a new link on its terminal. @throws Error if it does not answer */
export async function askForLink(): Promise<void> {
  const { ok, status } = await fetch(askLinkPath, { cache: 'no-store' });
  if (!ok) throw new Error(`The server answered ${status}. Use \`tutti dashboard --link\` in a terminal instead.`);
}

/**
 * A challenge of the server, and the proof for it that this page has its key; null if the server does not know this
 * page.
 */
async function newProof(): Promise<string | null> {
  const answer = await fetch(challengePath, { cache: 'no-store' });
  if (isRefusal(answer)) return null;
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const challenge = await answer.text();
  const key = localStorage.getItem(pageKeyName);
  // Without the key that the link's page stored, the server refuses any text.
  return `${challenge}.${key === null ? 'none' : await proofOf(key, challenge)}`;
}

/** A socket does not report why it could not be opened. A plain request shows whether the server accepts this page. */
async function isRefused(): Promise<boolean> {
  const proof = await newProof();
  if (proof === null) return true;
  return isRefusal(await fetch(rpcPath, { cache: 'no-store', headers: { [pageProofName]: proof } }));
}

function isRefusal({ status }: Response): boolean {
  return [401, 403, 429].includes(status);
}
