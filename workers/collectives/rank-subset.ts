import {
  type CollectiveArray,
  type CollectiveCall,
  CollectiveError,
  describeCall,
  noSignals,
} from '../../core/protocol/wire/collectives.ts';
import type { CollectiveFrame, CollectiveRequest } from '../../core/protocol/wire/frames.ts';
import { messageOf } from '../../core/text/errors.ts';
import { answerOf } from './memory/slot-exchange.ts';
import { ProcessGroup } from './process-group.ts';

/**
 * A group of some ranks of a group, which call collectives without the others. They exchange their arrays as messages,
 * and each combines them in the order of ranks. In the new group they have the ranks 0 to N − 1. It fails with the
 * group.
 *
 * @param ranks of the group, ascending, with this rank. They must not exchange other messages during a collective
 */
export function subsetOf(group: ProcessGroup, ranks: readonly number[]): ProcessGroup {
  if (ranks.length === 1) return ProcessGroup.alone(0);
  let latest: Promise<void> = Promise.resolve();
  const subset: ProcessGroup = new ProcessGroup(
    ranks.indexOf(group.rank),
    ranks.map((_, position) => position),
    {
      send: (frame: CollectiveFrame) => {
        if (frame.phase === 'request') latest = answer(frame, latest);
      },
    },
  );
  const answer = async (request: CollectiveRequest, earlier: Promise<void>): Promise<void> => {
    await earlier;
    try {
      subset.receive(await exchange(group, ranks, request));
    } catch (error) {
      subset.fail(error instanceof Error ? error : new Error(messageOf(error)));
    }
  };
  return subset;
}

async function exchange(
  group: ProcessGroup,
  ranks: readonly number[],
  { call, data }: CollectiveRequest,
): Promise<CollectiveFrame> {
  const sent = data ?? new Uint8Array(0);
  for (const rank of ranks) if (rank !== group.rank) group.send(sent, rank);
  const arrays: (CollectiveArray | null)[] = [];
  for (const rank of ranks) {
    // Combining arrays frees them.
    const array = rank === group.rank ? (data?.slice() ?? null) : (await group.receiveFrom(rank)).data;
    if (call.root === null && (array?.length ?? 0) !== sent.length) throw disagreement(group.rank, call, rank, array);
    arrays.push(array);
  }
  const positions = ranks.map((_, position) => position);
  const answer = answerOf(call, positions, ranks.indexOf(group.rank), arrays, null);
  const shape = answer === null ? [] : [answer.length];
  return { kind: 'collective', phase: 'result', call: { ...call, shape }, signals: noSignals, data: answer };
}

function disagreement(
  rank: number,
  call: CollectiveCall,
  other: number,
  array: CollectiveArray | null,
): CollectiveError {
  const found = `rank ${other} sent ${array?.length ?? 0} elements`;
  return new CollectiveError(
    `The ranks disagree: rank ${rank} called ${describeCall(call)}, and ${found}. Every rank must make the ` +
      'same calls in the same order.',
  );
}
