import { createBirpc } from 'birpc';
import { decodeRpc, encodeRpc, type PageApi } from '../../../core/protocol/pages/rpc.ts';
import type { ConnectionListener, Transport } from '../../../src-renderer/client/hub-client.ts';

/** A hub in memory. The test opens, answers and breaks its connections. */
export class FakeHub implements Transport {
  listeners: ConnectionListener[] = [];
  page: PageApi | null = null;
  api: Record<string, (...args: never[]) => unknown> = {};

  connect(listener: ConnectionListener): { send(bytes: Uint8Array): void; close(): void } {
    this.listeners.push(listener);
    let receive: (message: unknown) => void = () => undefined;
    this.page = createBirpc<PageApi>(this.api, {
      post: (message: unknown) => listener.received(encodeRpc(message)),
      on: (take) => void (receive = take),
    });
    return {
      send(bytes) {
        receive(decodeRpc(bytes));
      },
      close: () => undefined,
    };
  }

  get last(): ConnectionListener {
    return this.listeners[this.listeners.length - 1];
  }
}
