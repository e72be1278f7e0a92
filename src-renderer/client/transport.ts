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

export interface Connection {
  send(bytes: Uint8Array<ArrayBuffer>): void;
  close(): void;
}
