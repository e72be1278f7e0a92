import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Another address of this machine, to which the tunnel's browser resolves `localhost`. */
const nearEnd = '127.0.0.2';
export const tunnelBrowserFlag = `--host-resolver-rules=MAP localhost ${nearEnd}`;

/** A connection to Tutti like `ssh -L`, which can break and come back while both ends stay. */
export class Tunnel {
  readonly #port: number;
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();

  /** @param port of Tutti and of the near end: Tutti accepts only its own port */
  constructor(port: number) {
    this.#port = port;
  }

  async open(): Promise<void> {
    this.#server = createServer((near) => {
      const far = connect(this.#port, '127.0.0.1');
      for (const socket of [near, far]) this.#hold(socket);
      near.pipe(far).pipe(near);
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
    }).listen(this.#port, nearEnd);
    await once(this.#server, 'listening');
  }

  async cut(): Promise<void> {
    if (this.#server === null) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    this.#server = null;
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // Breaking connections is the purpose of this class. Both ends notice it themselves.
    socket.on('error', () => socket.destroy());
  }
}
