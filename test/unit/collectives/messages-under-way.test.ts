import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { DirectMessages } from '../../../workers/collectives/direct-messages.ts';
import { MessagesUnderWay } from '../../../workers/collectives/messages-under-way.ts';

const message = { data: Float32Array.of(3), shape: [1] };

/** A way on which `move` decides whether a message has left. */
function sending(move: () => boolean): { messages: MessagesUnderWay; moves: () => number } {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const moved = vi.fn<() => boolean>(move);
  const direct: DirectMessages = { put: () => true, take: () => null, move: moved, sleep: () => undefined };
  const messages = new MessagesUnderWay(0, { send: () => expect.fail('No message goes through the hub.') });
  messages.useDirect(direct);
  messages.send(message, 1);
  return { messages, moves: () => moved.mock.calls.length };
}

describe('a message that cannot leave at once', () => {
  it('moves on while its sender does something else, until it has left', () => {
    let rest = 4;
    const { messages, moves } = sending(() => (rest -= 1) <= 0);
    messages.send(message, 1);
    expect(moves()).toBe(1);
    vi.advanceTimersByTime(10);
    expect(moves()).toBe(4);
    expect(vi.getTimerCount()).toBe(0);
    rest = 2;
    messages.send(message, 1);
    vi.advanceTimersByTime(10);
    expect(moves()).toBe(6);
  });

  it('stays when the group fails', () => {
    const { messages, moves } = sending(() => false);
    messages.fail(new Error('Rank 1 left the group.'));
    vi.advanceTimersByTime(10);
    expect(moves()).toBe(1);
    expect(() => messages.send(message, 1)).toThrow('Rank 1 left the group.');
  });

  it('fails all others when moving fails', async () => {
    let isBroken = false;
    const { messages } = sending(() => {
      if (isBroken) throw new Error('MPI_Testall failed: connection reset.');
      return false;
    });
    isBroken = true;
    vi.advanceTimersByTime(1);
    expect(vi.getTimerCount()).toBe(0);
    await expect(messages.receive(1)).rejects.toThrow('failed on rank 0: MPI_Testall failed: connection reset.');
    expect(() => messages.send(message, 1)).toThrow('connection reset');
  });
});
