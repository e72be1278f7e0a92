import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { memberCountOf, memberOfRank } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { splitsLayers } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import type { Sampler } from '../../data/samplers.ts';
import { normalizationsOf } from '../../parts/running-statistics.ts';
import { digestOf } from '../../strategies/data-parallel/replica-check.ts';
import { valuesOf } from '../../tensorflow/tensor-values.ts';
import { isFrozen } from '../../tensorflow/layers/normalization.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import type { RankSetup } from '../../training/rank-training.ts';

/**
 * Tells that batch normalization gets batches of one sample, whose variance is 0; null if it does not. Layers that
 * normalize images or sequences have several values of each channel in one sample, as in PyTorch, which refuses one
 * value per channel.
 *
 * @param samplers those of the ranks with the most and the fewest samples
 */
export function noteOnSingleSamples(
  config: Pick<RunConfig, 'batchSize' | 'strategy'>,
  model: LayersModel,
  samplers: () => readonly Sampler[],
): string | null {
  const layers = normalizationsOf(model).filter((layer) => !isFrozen(layer) && layer.inputSpec?.[0].ndim === 2);
  if (layers.length === 0) return null;
  const [{ name, momentum }] = layers;
  const what = `so that batch normalization ("${name}"${layers.length === 1 ? '' : ', and others'}) gets a variance of 0`;
  for (const sampler of samplers()) {
    const lengths = Array.from(sampler.batches(0), ({ length }) => length);
    const [first, last] = [lengths[0], lengths[lengths.length - 1]];
    if (smallestPart(config, first) === 1) {
      return (
        `Steps compute with single samples (batches of ${first}), ${what} and learns nothing but the mean. Raise ` +
        'batchSize or the number of samples, or use another normalization.'
      );
    }
    // In an uneven split the last batch of a rank may be empty.
    if (last === 0 || smallestPart(config, last) !== 1) continue;
    const count = lengths.reduce((sum, length) => sum + Math.ceil(length / partSize(config, length)), 0);
    // The fixed point of one update towards 0 after count - 1 updates towards the right variance.
    const share = (momentum * (1 - momentum ** (count - 1))) / (1 - momentum ** count);
    return (
      `Each epoch ends with a single sample, ${what} there: its moving variance, which predictions use, tends to ` +
      `${Math.round(100 * share)} % of the right one. Use --drop-last, or a batchSize that leaves no single ` +
      'sample.'
    );
  }
  return null;
}

/** Samples of a batch that pass through the model at once. */
function partSize({ batchSize, strategy }: Pick<RunConfig, 'batchSize' | 'strategy'>, samples: number): number {
  return splitsLayers(strategy) ? Math.max(1, Math.ceil(samples / strategy.microBatches)) : batchSize;
}

/** Those of the smallest such part. */
function smallestPart(config: Pick<RunConfig, 'batchSize' | 'strategy'>, samples: number): number {
  const size = partSize(config, samples);
  return samples % size || size;
}

/** Reports on the first rank what {@link noteOnSingleSamples} tells. */
export function reportSingleSamples(
  { config, member, report, rank }: Pick<RankSetup, 'config' | 'member' | 'report'> & { rank: number },
  own: Sampler,
  samplerOfRank: (rank: number) => Sampler,
): void {
  if (rank !== 0) return;
  // Shares of samples differ by at most one: the first rank has the most, the last one the fewest.
  const note = noteOnSingleSamples(config, member.model, () => [own, samplerOfRank(config.members - 1)]);
  if (note !== null) report.event('training-note', note, { epoch: 0, step: 0 });
}

/**
 * Reports members that start with equal trained weights, on the first rank. All ranks of the group call it: it
 * all-gathers the SHA-256 of each rank's weights, 32 bytes. `EnsembleMetrics` compares those of different waves.
 */
export async function reportEqualMembers(
  setup: Pick<RankSetup, 'config' | 'group' | 'member' | 'report'>,
): Promise<void> {
  const { config, group, member, report } = setup;
  if (config.identicalSeeds || memberCountOf(config) === 1 || group.worldSize === 1) return;
  const digests: Buffer[] = [];
  for (const variable of member.variables) digests.push(digestOf(await valuesOf(variable)));
  const all = await group.allGather(Uint8Array.from(digestOf(Buffer.concat(digests))));
  if (group.rank !== group.ranks[0]) return;
  const note = noteOnEqualMembers(config, group.ranks, all);
  if (note !== null) report.event('training-note', note, { epoch: 0, step: 0 });
}

/** Names the members whose ranks have the same digests; null if there are none. @param digests of the ranks' weights */
export function noteOnEqualMembers(
  config: Pick<RunConfig, 'members' | 'strategy' | 'warmStart'>,
  ranks: readonly number[],
  digests: readonly Uint8Array[],
): string | null {
  const ofMembers = new Map<number, string>();
  ranks.forEach((rank, i) => {
    const member = memberOfRank(config, rank);
    ofMembers.set(member, (ofMembers.get(member) ?? '') + Buffer.from(digests[i]).toString('hex'));
  });
  const together = Map.groupBy(ofMembers.keys(), (member) => ofMembers.get(member));
  const equal = [...together.values()].filter(({ length }) => length > 1).map((members) => members.join(', '));
  if (equal.length === 0) return null;
  const { checkpoint } = config.warmStart;
  const [cause, remedy] =
    checkpoint === '' || checkpoint.includes('{rank}')
      ? [
          'their initializers have a fixed seed or constant values',
          "Leave out the initializers' seeds, or derive them from the `rank` that model() gets.",
        ]
      : [
          `all start from ${checkpoint}`,
          'Write {rank} in --warm-start.checkpoint, add --warm-start.noise, or give them a new head.',
        ];
  return (
    `Members ${equal.join(' and members ')} start with the same weights: ${cause}. They differ only by the samples ` +
    `and random numbers of their steps, and with full batches not at all. ${remedy}`
  );
}
