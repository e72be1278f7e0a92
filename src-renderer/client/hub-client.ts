import { type BirpcReturn, createBirpc } from 'birpc';
import type { HubApi } from '../../core/protocol/pages/hub-methods.ts';
import { decodeRpc, encodeRpc, type PageApi, pageEvents } from '../../core/protocol/pages/rpc.ts';

export type ConnectionState =
  | { kind: 'connecting' }
  | { kind: 'connected' }
  /** `attempts` counts the attempts to reconnect. */
  | { kind: 'disconnected'; attempts: number }
  /** The hub answers but rejects this page. Only a new link helps. */
  | { kind: 'refused' };

export interface HubEvents extends PageApi {
  stateChanged(state: ConnectionState): void;
  /** The connection was lost and is back: what was read before may be out of date. */
  returned(): void;
}

/** Takes the values of its event. */
type Listener = (...values: never[]) => void;

/** Pauses between attempts to reconnect; the last one repeats. */
const backoffMs = [250, 500, 1000, 2000, 4000];

/**
 * Keeps one connection to the hub and reconnects when it is lost. Calls wait for the first connection. While the
 * connection is lost, calls reject, also those in progress; a listener of `returned` reads again.
 */
export class HubClient {
  /** The hub's methods; a call is sent to the hub. */
  readonly hub: HubApi;
  readonly #transport: Transport;
  readonly #listeners = new Map<keyof HubEvents, Set<Listener>>();
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

  /** Calls `listener` at every event of that name. @returns unsubscribes it */
  on<E extends keyof HubEvents>(event: E, listener: HubEvents[E]): () => void {
    const listeners = this.#listeners.get(event) ?? new Set<Listener>();
    this.#listeners.set(event, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Reconnects at once: instead of after the pause, or although the hub refused this page before. */
  retryNow(): void {
    const { kind } = this.#state;
    if ((kind !== 'disconnected' && kind !== 'refused') || this.#connection !== null) return;
    clearTimeout(this.#retryTimer);
    this.#connect();
  }

  #tell<E extends keyof HubEvents>(event: E, ...values: Parameters<HubEvents[E]>): void {
    for (const listener of this.#listeners.get(event) ?? []) Reflect.apply(listener, undefined, values);
  }

  /** The hub's events, each told to its listeners. */
  #events(): PageApi {
    const tellers = pageEvents.map((event) => [
      event,
      (...values: Parameters<PageApi[typeof event]>) => this.#tell(event, ...values),
    ]);
    return Object.fromEntries(tellers) as PageApi;
  }

  async #call(method: string, args: unknown[]): Promise<unknown> {
    await this.#firstAnswer.promise;
    if (this.#rpc === null) throw new Error('Tutti does not answer. Try again when the connection is back.');
    return this.#rpc.$callRaw({ method, args });
  }

  #connect(): void {
    let deliver: (message: unknown) => void = () => undefined;
    const connection = this.#transport.connect({
      opened: () => {
        this.#rpc = createBirpc<HubApi, PageApi>(this.#events(), {
          post: (message: unknown) => connection.send(encodeRpc(message)),
          on: (receive) => void (deliver = receive),
          // No timeout: an evaluation takes minutes, and `closed` reports a lost connection.
          timeout: -1,
        });
        const isReturn = this.#attempts > 0;
        this.#attempts = 0;
        this.#changeState({ kind: 'connected' });
        if (isReturn) this.#tell('returned');
      },
      received: (bytes) => deliver(decodeRpc(bytes)),
      closed: (isRefused) => this.#lose(isRefused),
    });
    this.#connection = connection;
  }

  #lose(isRefused: boolean): void {
    this.#rpc?.$close(new Error('The connection was lost before Tutti answered. Try again when it is back.'));
    this.#rpc = null;
    this.#connection = null;
    if (isRefused) {
      // A page that comes back reads everything again.
      this.#attempts += 1;
      return this.#changeState({ kind: 'refused' });
    }
    const waitMs = backoffMs[Math.min(this.#attempts, backoffMs.length - 1)];
    this.#attempts += 1;
    this.#retryTimer = setTimeout(() => this.#connect(), waitMs);
    this.#changeState({ kind: 'disconnected', attempts: this.#attempts });
  }

  #changeState(state: ConnectionState): void {
    this.#state = state;
    this.#firstAnswer.resolve();
    this.#tell('stateChanged', state);
  }
}

/** Opens connections to the hub. */
export interface Transport {
  /** Opens one connection. The listener gets `opened` at most once, and `closed` exactly once. */
  connect(listener: ConnectionListener): Connection;
}

export interface ConnectionListener {
  opened(): void;
  received(bytes: Uint8Array): void;
  /** `isRefused` where the hub answers but rejects this page, so that reconnecting cannot help. */
  closed(isRefused: boolean): void;
}

interface Connection {
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
}
