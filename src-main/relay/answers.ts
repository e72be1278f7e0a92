import { freeMemory } from '../../core/protocol/wire/arrays.ts';
import { stageRules } from '../../core/protocol/wire/collective-stages.ts';
import { type CollectiveArray, type CollectiveCall, CollectiveError } from '../../core/protocol/wire/collectives.ts';
import { concatenate, reduceArrays } from '../../core/protocol/wire/reduce.ts';

/**
 * The answer for each rank, in the order of `ranks`; null where a rank needs no array, or has it already.
 * @param arrays what each rank sent, in the same order
 */
export function computeAnswers(
  call: CollectiveCall,
  ranks: readonly number[],
  arrays: readonly (CollectiveArray | null)[],
): (CollectiveArray | null)[] {
  if (call.operation === 'barrier' || stageRules[call.stage].arraysIn === 'memory') return ranks.map(() => null);
  if (call.operation === 'broadcast') {
    const [data] = requireData(ranks, arrays, (rank) => rank === call.root);
    return ranks.map((rank) => (rank === call.root ? null : data));
  }
  if (call.operation === 'shift') return ranks.map((_, position) => arrays[position + Number(call.distance)] ?? null);
  const all = requireData(ranks, arrays);
  if (call.operation === 'all-gather') {
    const gathered = concatenate(all);
    return ranks.map(() => gathered);
  }
  const reduced = reduce(call, all);
  if (call.operation === 'all-reduce') return ranks.map(() => reduced);
  const size = reduced.length / ranks.length;
  return ranks.map((_, position) => reduced.subarray(position * size, (position + 1) * size));
}

function reduce(call: CollectiveCall, arrays: readonly CollectiveArray[]): CollectiveArray {
  if (call.reduce === null) throw new CollectiveError(`${call.operation} came without a reduce operation.`);
  const result = reduceArrays(arrays, call.reduce);
  for (const array of arrays.slice(1)) freeMemory(array);
  return result;
}

function requireData(
  ranks: readonly number[],
  arrays: readonly (CollectiveArray | null)[],
  isNeeded: (rank: number) => boolean = () => true,
): CollectiveArray[] {
  return ranks.flatMap((rank, position) => {
    if (!isNeeded(rank)) return [];
    const data = arrays[position];
    if (data === null) throw new CollectiveError(`Rank ${rank} sent no array.`);
    return [data];
  });
}
