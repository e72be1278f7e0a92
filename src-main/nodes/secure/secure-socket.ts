import { hostname, networkInterfaces } from 'node:os';
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { TimeLimit } from '../../../core/node/time-limit.ts';
import { randomSecret } from '../../../core/node/secrets.ts';

/**
 * TLS between the processes of one launch, with its token as pre-shared key (RFC 4279; with ECDHE for forward secrecy,
 * RFC 5489 and 7905). Both sides prove that they know the token, so a launch needs no certificate, no authority and no
 * clock. Node has these suites in TLS 1.2.
 */
const suite = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

/**
 * What a connection carries: the messages of a task, the bytes of a worker's connection to the hub, or those of a
 * process that follows a run.
 */
const purposes = ['task', 'rank', 'follow'] as const;
export type Purpose = (typeof purposes)[number];

interface Address {
  hosts: readonly string[];
  port: number;
}

/** Listens on all of this machine's addresses for processes that know the token. */
export class SecureServer {
  readonly token = randomSecret();
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<TLSSocket>();

  private constructor(take: (socket: TLSSocket, purpose: Purpose) => void) {
    const found = new WeakMap<object, Purpose>();
    const pskCallback = (socket: object, identity: string): Buffer | null => {
      const purpose = purposes.find((one) => one === identity);
      if (purpose === undefined) return null;
      found.set(socket, purpose);
      return keyOf(this.token);
    };
    this.#server = createServer({ ...suite, pskCallback }, (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.setNoDelay();
      take(socket, found.get(socket) ?? 'rank');
    });
    // A stranger: the connection is closed already.
    this.#server.on('tlsClientError', () => undefined);
  }

  static async listen(take: (socket: TLSSocket, purpose: Purpose) => void): Promise<SecureServer> {
    const own = new SecureServer(take);
    await new Promise<void>((resolve, reject) => {
      own.#server.once('error', (cause) =>
        reject(new Error(`Other processes cannot connect: this one cannot listen (${cause.message}).`, { cause })),
      );
      own.#server.listen(0, resolve);
    });
    return own;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections: a node that vanished would never end its own. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Connects to the first of the hosts that answers and knows the token. @throws Error with the reason for each host */
export async function connectSecurely(
  { hosts, port }: Address,
  token: string,
  purpose: Purpose,
  limitMs: number,
): Promise<TLSSocket> {
  const problems: string[] = [];
  for (const host of hosts) {
    try {
      return await shakeHands({ host, port }, token, purpose, limitMs);
    } catch (error) {
      problems.push(`${host}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`No connection to port ${port} (${problems.join('; ')}).`);
}

/**
 * Connects over TLS to a server that knows the token.
 * @param way its address, or a byte stream that leads there
 */
export function shakeHands(
  way: { host: string; port: number } | { socket: Duplex },
  token: string,
  purpose: Purpose,
  limitMs: number,
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...suite,
      ...way,
      pskCallback: () => ({ psk: keyOf(token), identity: purpose }),
      // There is no certificate: the key proves the server's identity.
      checkServerIdentity: () => undefined,
    });
    const limit = new TimeLimit(limitMs, () => socket.destroy(new Error(`no answer within ${limitMs} ms`)));
    // Not once: the end of the stream below may follow as another error.
    socket.on('error', (error) => {
      limit.stop();
      reject(error);
    });
    socket.once('secureConnect', () => {
      limit.stop();
      socket.setNoDelay();
      resolve(socket);
    });
  });
}

function keyOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Names and addresses by which other machines may reach this one, each once.
 * @param known by which the launcher knows it; null: it has none
 */
export function hostsOfThis(known: string | null): string[] {
  const all = Object.values(networkInterfaces()).flatMap((of) => of ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80'));
  const hosts = [...(known === null ? [] : [known]), hostname(), ...outside.map(({ address }) => address), '127.0.0.1'];
  return [...new Set(hosts)];
}
