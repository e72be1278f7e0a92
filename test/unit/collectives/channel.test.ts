import { describe, expect, it } from 'vitest';
import { createChannelPair, StreamChannel } from '../../../core/protocol/wire/channel.ts';
import type { Frame, MessageFrame } from '../../../core/protocol/wire/frames.ts';

const message = (value: unknown): MessageFrame => ({ kind: 'message', message: value, arrays: [] });
const microtasks = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

describe('a pair of channels in memory', () => {
  it('delivers in order and asynchronously, and shares no memory', async () => {
    const [first, second] = createChannelPair();
    const received: Frame[] = [];
    second.onFrame((frame) => received.push(frame));
    const array = new Float64Array([NaN, Infinity]);
    first.send({ kind: 'message', message: 1, arrays: [array] });
    first.send(message(2));
    expect(received).toStrictEqual([]);
    array.fill(0);
    await microtasks();
    expect(received).toStrictEqual([
      { kind: 'message', message: 1, arrays: [new Float64Array([NaN, Infinity])] },
      message(2),
    ]);
  });

  it('keeps messages until there is a receiver', async () => {
    const [first, second] = createChannelPair();
    first.send(message('early'));
    first.close();
    await microtasks();
    const received: unknown[] = [];
    second.onFrame((frame) => received.push(frame));
    expect(received).toStrictEqual([message('early')]);
  });

  it('delivers queued messages before it closes, then notifies both ends once', async () => {
    const [first, second] = createChannelPair();
    const log: unknown[] = [];
    second.onFrame((frame) => log.push(frame));
    first.onClose((error) => log.push(['first', error]));
    second.onClose((error) => log.push(['second', error]));
    first.send(message('last'));
    first.close();
    first.close();
    await microtasks();
    expect(log[0]).toStrictEqual(message('last'));
    expect(log.slice(1)).toStrictEqual([
      ['second', null],
      ['first', null],
    ]);
    expect(() => first.send(message(0))).toThrow(/closed here/);
    expect(() => second.send(message(0))).toThrow(/closed by the peer/);
    second.onClose((error) => log.push(['late', error]));
    expect(log.at(-1)).toStrictEqual(['late', null]);
  });

  it('receives nothing after it is closed, even within one chunk', async () => {
    const [first, second] = createChannelPair();
    const received: unknown[] = [];
    second.onFrame((frame) => {
      received.push(frame);
      second.close();
    });
    first.send(message(1));
    first.send(message(2));
    await microtasks();
    expect(received).toStrictEqual([message(1)]);
  });
});

describe('a channel over a stream', () => {
  const sink = () => {
    const calls: string[] = [];
    return { calls, write: () => {}, end: () => void calls.push('end'), destroy: () => void calls.push('destroy') };
  };

  it('breaks on an invalid frame, and senders get the reason', () => {
    const stream = sink();
    const channel = new StreamChannel(stream);
    const closed: (Error | null)[] = [];
    channel.onClose((error) => closed.push(error));
    channel.receiveBytes(new Uint8Array(12));
    channel.streamClosed(null);
    expect(stream.calls).toStrictEqual(['destroy']);
    expect(closed).toHaveLength(1);
    expect(closed[0]?.message).toMatch(/announces 0 \+ 0 bytes/);
    expect(() => channel.send(message(1))).toThrow(/The channel broke: A frame announces 0 \+ 0 bytes/);
  });

  it('treats an end in the middle of a frame as a break', () => {
    const channel = new StreamChannel(sink());
    const closed: (Error | null)[] = [];
    channel.onClose((error) => closed.push(error));
    channel.receiveBytes(new Uint8Array([64, 0, 0]));
    channel.streamClosed(null);
    expect(closed[0]?.message).toBe('The connection ended in the middle of a frame.');
  });
});
