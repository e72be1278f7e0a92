import { dataTypeOf } from '../../core/protocol/wire/arrays.ts';
import { stageRules } from '../../core/protocol/wire/collective-stages.ts';
import {
  type CollectiveArray,
  type CollectiveCall,
  describeCall,
  elementCount,
  isSameCall,
} from '../../core/protocol/wire/collectives.ts';

/**
 * Why an answer of the hub cannot be the one to a rank's call: it is that of another call, or of another type or length. An array that
 * is too short would leave old values in place.
 * @param call the call of this rank
 * @param ranks the ranks whose arrays the answer holds, M
 * @returns the end of a sentence about the hub; null if the answer fits
 */
export function whyNotAnswer(
  call: CollectiveCall,
  answer: { call: CollectiveCall; data: CollectiveArray | null },
  { rank, ranks }: { rank: number; ranks: readonly number[] },
): string | null {
  // An answer's shape is that of its own array.
  if (!isSameCall(call, { ...answer.call, shape: call.shape }))
    return `answered ${describeCall(call)} with that of ${describeCall(answer.call)}`;
  const expected = expectedLength(call, rank, ranks.length);
  const { data } = answer;
  if (data === null)
    return expected === 0 || call.operation === 'shift' ? null : `answered ${describeCall(call)} with no array`;
  if (data.length === expected && dataTypeOf(data) === call.dataType) return null;
  return `answered ${describeCall(call)} with ${dataTypeOf(data)}[${data.length}], not ${call.dataType}[${expected}]`;
}

/** Elements of the answer's array: M n for an all-gather of n, n / M for a reduce-scatter; 0 where there is none. */
function expectedLength(call: CollectiveCall, rank: number, rankCount: number): number {
  const { arraysIn, answered } = stageRules[call.stage];
  if (arraysIn === 'memory' || answered !== 'when all ranks ask' || call.operation === 'barrier') return 0;
  const length = elementCount(call.shape);
  if (call.operation === 'all-gather') return rankCount * length;
  if (call.operation === 'reduce-scatter') return length / rankCount;
  return call.root === rank ? 0 : length;
}
