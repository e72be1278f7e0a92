import { createBirpc } from 'birpc';
import { WebSocket } from 'ws';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi } from '../../core/protocol/pages/rpc.ts';
import { challengePath, pageKeyName, rpcPath, rpcProtocol } from '../../core/protocol/pages/window.ts';
import { proofOf } from '../../src-renderer/client/session-proof.ts';

/** A session with the server, as a browser has it after it opened the link. */
export interface Session {
  origin: string;
  cookie: string;
  key: string;
}

export async function openLink(link: string): Promise<Session> {
  const response = await fetch(link);
  const key = new RegExp(`name="${pageKeyName}" content="([^"]+)"`).exec(await response.text())?.[1];
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  if (key === undefined || cookie === undefined) throw new Error(`The link was answered with ${response.status}.`);
  return { origin: new URL(link).origin, cookie, key };
}

/** A window of the dashboard: calls the hub and takes its updates. */
export interface Window {
  hub: Pick<HubApi, 'runs' | 'runOverview' | 'run' | 'series' | 'watch'>;
  /** Number of updates of runs, and of lists, that came. */
  received: { updates: number; lists: number };
  close(): void;
}

export async function openWindow({ origin, cookie, key }: Session): Promise<Window> {
  const challenge = await (await fetch(new URL(challengePath, origin), { headers: { cookie } })).text();
  const proof = `${challenge}.${await proofOf(key, challenge)}`;
  const socket = new WebSocket(new URL(rpcPath, origin.replace('http', 'ws')), [rpcProtocol, proof], {
    headers: { cookie, origin },
  });
  const received = { updates: 0, lists: 0 };
  const page: PageApi = {
    studiesChanged: () => undefined,
    studyChanged: () => undefined,
    discoveriesChanged: () => undefined,
    discoveryChanged: () => undefined,
    inspecting: () => undefined,
    queueChanged: () => undefined,
    runsChanged: () => void (received.lists += 1),
    runUpdates: (_id, updates) => void (received.updates += updates.length),
  };
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const hub = createBirpc<HubApi, PageApi>(page, {
    post: (message: unknown) => socket.send(encodeRpc(message)),
    on: (receive) => void socket.on('message', (data: Buffer) => receive(decodeRpc(data))),
    timeout: 60_000,
  });
  return { hub, received, close: () => socket.close() };
}
