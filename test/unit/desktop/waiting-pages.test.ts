import { expect, it, vi } from 'vitest';
import { type Connect, connectWhenOpen, type PageWire } from '../../../src-main/rpc/connection.ts';

/** A page that sends bytes, and a hub that opens later. */
function open() {
  const opening = Promise.withResolvers<Connect>();
  let send: (bytes: Uint8Array) => void = () => undefined;
  const wire: PageWire = {
    send: () => undefined,
    onMessage: (receive) => void (send = receive),
    refuse: () => undefined,
  };
  const received: number[] = [];
  const disconnect = vi.fn<() => void>();
  const connect = vi.fn<Connect>((given) => {
    given.onMessage((bytes) => void received.push(...bytes));
    return disconnect;
  });
  return { opening, wire, received, disconnect, connect, send: (byte: number) => send(Uint8Array.of(byte)) };
}

it('keeps what a page sends until the hub is open, in order', async () => {
  const { opening, wire, received, connect, disconnect, send } = open();
  const end = connectWhenOpen(opening.promise)(wire);
  send(1);
  send(2);
  expect(received).toEqual([]);
  opening.resolve(connect);
  await opening.promise;
  expect(received).toEqual([1, 2]);
  send(3);
  expect(received).toEqual([1, 2, 3]);
  end();
  expect(disconnect).toHaveBeenCalledOnce();
});

it('does not connect a page that has left meanwhile', async () => {
  const { opening, wire, connect } = open();
  connectWhenOpen(opening.promise)(wire)();
  opening.resolve(connect);
  await opening.promise;
  expect(connect).not.toHaveBeenCalled();
});

it('leaves the failure of the hub to the app', async () => {
  const { opening, wire, received, send } = open();
  const end = connectWhenOpen(opening.promise)(wire);
  opening.reject(new Error('The disk is full.'));
  await opening.promise.catch(() => undefined);
  send(1);
  end();
  expect(received).toEqual([]);
});
