import { z } from 'zod';
import { createChannelPair, type Channel } from '../../../core/protocol/wire/channel.ts';
import { noSignals } from '../../../core/protocol/wire/collectives.ts';
import type { CollectiveRequest } from '../../../core/protocol/wire/frames.ts';
import { Relay, type RelayOptions } from '../../../src-main/relay/relay.ts';
import type { SharedMemory } from '../../../workers/collectives/memory/shared-memory.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';

const remainingSchema = z.object({ type: z.literal('remaining'), ranks: z.array(z.int()) });

/** The first request of a rank that calls a barrier. */
export const barrierRequest: CollectiveRequest = {
  kind: 'collective',
  phase: 'request',
  call: {
    operation: 'barrier',
    reduce: null,
    dataType: 'uint8',
    shape: [0],
    root: null,
    distance: null,
    sequence: 1,
    stage: 'whole',
  },
  signals: noSignals,
  data: null,
};

/** A relay and its ranks in one process, for tests. */
export interface TestGroup {
  relay: Relay;
  groups: ProcessGroup[];
  /** The hub's ends of the channels, in the order of `ranks`. */
  hubChannels: Channel[];
  workerChannels: Channel[];
}

export function createRelay(ranks: readonly number[], options: Partial<RelayOptions> = {}): Relay {
  return new Relay({
    ranks,
    describeRank: (rank) => `Rank ${rank} runs on cpu:${rank}.`,
    timeoutMs: () => 10_000,
    stepsOf: () => 0,
    onSlow: () => {},
    onBack: () => {},
    dropStuck: () => false,
    onStuck: () => {},
    ...options,
  });
}

/** Connects a hub's end of a channel to the relay. */
export function serve(relay: Relay, rank: number, channel: Channel): void {
  relay.attach(rank, (frame) => channel.send(frame));
  channel.onFrame((frame) => {
    if (frame.kind === 'collective') relay.receive(rank, frame);
  });
}

/** Connects a worker's end of a channel to its process group. */
export function join(
  rank: number,
  ranks: readonly number[],
  channel: Channel,
  memory: SharedMemory | null = null,
): ProcessGroup {
  const group = new ProcessGroup(rank, ranks, channel, memory);
  channel.onFrame((frame) => {
    if (frame.kind === 'collective') group.receive(frame);
    else group.shrink(remainingSchema.parse(frame.message).ranks);
  });
  channel.onClose((error) => group.fail(error ?? new Error('The hub closed the channel.')));
  return group;
}

export function createInMemoryGroup(
  ranks: readonly number[],
  options: Partial<RelayOptions> = {},
  memoryOf: (rank: number) => SharedMemory | null = () => null,
): TestGroup {
  const relay = createRelay(ranks, options);
  const pairs = ranks.map(() => createChannelPair());
  const hubChannels = pairs.map(([hub]) => hub);
  const workerChannels = pairs.map(([, worker]) => worker);
  for (const [index, rank] of ranks.entries()) serve(relay, rank, hubChannels[index]);
  const groups = ranks.map((rank, index) => join(rank, ranks, workerChannels[index], memoryOf(rank)));
  return { relay, groups, hubChannels, workerChannels };
}

/** Lets the group continue without a rank, as the hub does. */
export function dropRank({ relay, groups, hubChannels }: TestGroup, remaining: readonly number[], lost: number): void {
  for (const [index, { rank }] of groups.entries()) {
    const message = { type: 'remaining', ranks: [...remaining] };
    if (remaining.includes(rank)) hubChannels[index].send({ kind: 'message', message, arrays: [] });
  }
  relay.drop(lost);
}

/** Ranks 0 to `worldSize` - 1. */
export const ranksOf = (worldSize: number): number[] => Array.from({ length: worldSize }, (_, rank) => rank);

/** The rejection reason of every promise. Fails if one was not rejected. */
export async function reasons(calls: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((outcome) => {
    if (outcome.status === 'fulfilled') throw new Error('A call that had to fail did not.');
    return String(outcome.reason).replace('CollectiveError: ', '');
  });
}
