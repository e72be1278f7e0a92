/** A way to the hub. */
export interface Transport {
  /** Opens one connection. It says at most once that it is open, and exactly once that it is closed. */
  connect(listener: ConnectionListener): Connection;
}

export interface ConnectionListener {
  opened(): void;
  received(bytes: Uint8Array): void;
  /** `isRefused` where the hub is there but turns this page away: trying again is of no use. */
  closed(isRefused: boolean): void;
}

export interface Connection {
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
}
