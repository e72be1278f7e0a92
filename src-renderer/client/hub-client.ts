import { type BirpcReturn, createBirpc } from 'birpc';
import type { HubApi, PageApi } from '../../core/protocol/pages/rpc.ts';
import { decodeRpc, encodeRpc } from '../../core/protocol/pages/rpc-codec.ts';
import type { Connection, Transport } from './transport.ts';

export type ConnectionState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  /** `attempts` counts the tries to come back. */
  | { kind: 'disconnected'; attempts: number }
  /** The hub is there, but turns this page away for good. */
  | { kind: 'refused' };

export interface HubEvents extends PageApi {
  stateChanged(state: ConnectionState): void;
  /** The hub is back after it was out of reach: what was read before may be old. */
  returned(): void;
}

/** Waits between tries to come back; the last one repeats. */
const backoffMs = [250, 500, 1000, 2000, 4000];

/**
 * Keeps one connection to the hub and opens it again when it is lost. Calls made while the first connection is being opened
 * wait for it; later ones, and those under way when a connection is lost, reject: whoever hears `returned` asks again.
 */
export class HubClient {
  /** The hub's methods, to be called as if it were here. */
  readonly hub: HubApi;
  readonly #transport: Transport;
  readonly #listeners: { [E in keyof HubEvents]: Set<HubEvents[E]> } = {
    stateChanged: new Set(),
    returned: new Set(),
    runsChanged: new Set(),
    runUpdates: new Set(),
  };
  readonly #pageApi: PageApi = {
    runsChanged: (runs) => {
      for (const listener of this.#listeners.runsChanged) listener(runs);
    },
    runUpdates: (id, updates) => {
      for (const listener of this.#listeners.runUpdates) listener(id, updates);
    },
  };
  readonly #firstAnswer = Promise.withResolvers<void>();
  #state: ConnectionState = { kind: 'connecting' };
  #attempts = 0;
  #connection: Connection | null = null;
  #rpc: BirpcReturn<HubApi, PageApi> | null = null;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
    const methods: HubApi = Object.create(null);
    this.hub = new Proxy(methods, {
      get:
        (_target, method) =>
        (...args: unknown[]) =>
          this.#call(String(method), args),
    });
    this.#connect();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Calls `listener` at every event of that name. @returns ends that */
  on<E extends keyof HubEvents>(event: E, listener: HubEvents[E]): () => void {
    this.#listeners[event].add(listener);
    return () => void this.#listeners[event].delete(listener);
  }

  /** Tries to come back at once instead of at the end of the wait. */
  retryNow(): void {
    if (this.#state.kind !== 'disconnected' || this.#connection !== null) return;
    clearTimeout(this.#retryTimer);
    this.#connect();
  }

  async #call(method: string, args: unknown[]): Promise<unknown> {
    await this.#firstAnswer.promise;
    if (this.#rpc === null) throw new Error('Tutti does not answer at the moment. Try again once it is back.');
    return this.#rpc.$callRaw({ method, args });
  }

  #connect(): void {
    let deliver: (message: unknown) => void = () => undefined;
    const connection = this.#transport.connect({
      opened: () => {
        this.#rpc = createBirpc<HubApi, PageApi>(this.#pageApi, {
          post: (message: unknown) => connection.send(encodeRpc(message)),
          on: (receive) => void (deliver = receive),
          // Some answers take minutes (evaluating a set), and a lost connection is noticed by itself.
          timeout: -1,
        });
        const isReturn = this.#attempts > 0;
        this.#attempts = 0;
        this.#changeState({ kind: 'connected' });
        if (isReturn) for (const listener of this.#listeners.returned) listener();
      },
      received: (bytes) => deliver(decodeRpc(bytes)),
      closed: (isRefused) => this.#lose(isRefused),
    });
    this.#connection = connection;
  }

  #lose(isRefused: boolean): void {
    this.#rpc?.$close(new Error('The connection was lost before Tutti answered. Try again once it is back.'));
    this.#rpc = null;
    this.#connection = null;
    if (isRefused) return this.#changeState({ kind: 'refused' });
    const waitMs = backoffMs[Math.min(this.#attempts, backoffMs.length - 1)];
    this.#attempts += 1;
    this.#retryTimer = setTimeout(() => this.#connect(), waitMs);
    this.#changeState({ kind: 'disconnected', attempts: this.#attempts });
  }

  #changeState(state: ConnectionState): void {
    this.#state = state;
    this.#firstAnswer.resolve();
    for (const listener of this.#listeners.stateChanged) listener(state);
  }
}
