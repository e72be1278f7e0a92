import { countEpoch } from '../../../core/text/numbers.ts';
import { hash } from 'node:crypto';
import { valuesOf } from '../../tensorflow/tensor-values.ts';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import type { Tensor } from '../../tensorflow/tf.ts';
import { AgreedError, type Position } from '../../member/report.ts';
import type { Member } from '../../member/member.ts';
import { trainedWeightNames } from '../../member/weights.ts';

const digestBytes = 32;

/** Ranks that train one model hold different bits of it. */
export class ReplicasDifferError extends AgreedError {
  override name = 'ReplicasDifferError';

  /**
   * @param part what differs, e.g. `dense_0/kernel`.
   * @param differing ranks whose part differs from that of `reference`
   */
  constructor(part: string, differing: readonly number[], reference: number, { epoch, step }: Position) {
    const ranks = `${differing.length === 1 ? 'rank' : 'ranks'} ${differing.join(', ')}`;
    super(
      `The ranks' copies of the model differ at epoch ${countEpoch(epoch)}, step ${step}: ${part} of ${ranks} is ` +
        `not that of rank ${reference}. All ranks must hold the same bits after the same updates. Nothing of this ` +
        'round was evaluated or saved. Look for project code that changes weights on some ranks only, and for ' +
        'devices with faulty memory. Then resume the run from its last saved state.',
      { rank: differing[0], epoch, step },
    );
  }
}

/**
 * Compares the SHA-256 of each trained weight on all ranks that train one model; with `withOptimizer` also of each slot
 * of the optimizer, of its update counts and of the averaged weights. All-gathers 32 bytes per tensor, so that all
 * ranks draw the same conclusion.
 *
 * @throws ReplicasDifferError on all ranks, naming the first part that differs
 */
export async function requireEqualReplicas(
  group: ProcessGroup,
  member: Member,
  position: Position,
  { withOptimizer }: { withOptimizer: boolean },
): Promise<void> {
  const parts = partsOf(member, withOptimizer);
  const own = new Uint8Array(digestBytes * (parts.size + 1));
  let offset = 0;
  for (const tensor of parts.values()) {
    own.set(digestOf(await valuesOf(tensor)), offset);
    offset += digestBytes;
  }
  own.set(digestOf(Float64Array.from(withOptimizer ? member.optimizer.steps : [])), offset);
  const all = await group.allGather(own);
  [...parts.keys(), "the optimizer's counts of updates"].forEach((name, i) => {
    const digests = all.map((digest) => Buffer.from(digest).toString('hex', i * digestBytes, (i + 1) * digestBytes));
    const common = mostFrequent(digests);
    const differing = group.ranks.filter((_, rank) => digests[rank] !== common);
    if (differing.length > 0) {
      throw new ReplicasDifferError(name, differing, group.ranks[digests.indexOf(common)], position);
    }
  });
}

function partsOf({ model, variables, optimizer, average }: Member, withOptimizer: boolean): Map<string, Tensor> {
  const names = trainedWeightNames(model);
  const weights = variables.map((variable, i): [string, Tensor] => [`"${names[i]}"`, variable]);
  const slots = [...optimizer.slots].map(([name, slot]): [string, Tensor] => [`the optimizer's "${name}"`, slot]);
  const averages = [...(average?.tensors ?? [])].map(([name, of]): [string, Tensor] => [
    `the average of "${name}"`,
    of,
  ]);
  return new Map([...weights, ...(withOptimizer ? [...slots, ...averages] : [])]);
}

/** SHA-256 of the bytes of an array. */
export function digestOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array | Uint8Array): Buffer {
  return hash('sha256', new Uint8Array(buffer, byteOffset, byteLength), 'buffer');
}

/** The most frequent value; the first of several. */
function mostFrequent(values: readonly string[]): string {
  const countOf = (value: string): number => values.filter((other) => other === value).length;
  return values.reduce((best, value) => (countOf(value) > countOf(best) ? value : best));
}
