import type { Channel } from '../../protocol/channel.ts';

export interface SocketServer {
  /** Sets who takes new connections. Connections that came before are handed over first. */
  onConnection(accept: (channel: Channel) => void): void;
  /** Breaks all connections and stops listening. */
  close(): Promise<void>;
}

/** Listens on a Unix socket (a named pipe on Windows) inside an owner-only folder that exists already. */
export async function listen(path: string): Promise<SocketServer> {
  return await Promise.reject(new Error(`not yet: ${path}`));
}
