import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../core/protocol/run/config.ts';
import { strategyKinds, strategyRules } from '../../core/protocol/run/strategies/strategy-rules.ts';
import { decodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { layerNames } from '../unit/whole-runs/networks.ts';
import { type Family, ofRank, readFamily, type RecordedRun } from '../unit/whole-runs/recorded-runs.ts';
import { largestDistance } from '../unit/whole-runs/train-run.ts';
import { tolerance } from '../unit/whole-runs/tolerance.ts';
import { metricValues, train, useHub } from './harness.ts';

const { hub } = useHub();

const cases: { family: Family; name: string; change?: RunConfigInput }[] = [
  { family: 'independent', name: 'batch normalisation, one-cycle', change: { membersPerDevice: 3 } },
  {
    family: 'independent',
    name: 'Nesterov momentum and decay, samples for all, averaged',
    change: { data: { mode: 'broadcast' } },
  },
  { family: 'joint', name: 'one step stale' },
  { family: 'coupled', name: 'uneven last batch, LAMB, clipped' },
  { family: 'data-parallel', name: 'weights that only whole batches reach' },
  {
    family: 'data-parallel',
    name: 'weights unreached for 30 steps, empty batches',
    change: { strategy: { kind: 'sharded' } },
  },
  // The first of the recorded members, one half of its layers in each process.
  {
    family: 'independent',
    name: 'Nesterov momentum and decay, samples for all, averaged',
    change: { members: 2, strategy: { kind: 'pipeline' } },
  },
  { family: 'hdet', name: 'rate and decay by group and label smoothing, given decay, clipped' },
];

const kindOf = ({ family, change }: (typeof cases)[number]) => change?.strategy?.kind ?? family;

const weightOrder = ['kernel', 'bias', 'gamma', 'beta', 'moving_mean', 'moving_variance'];

/** The weights of a rank's last checkpoint, in the recorded order. */
function lastWeights(folder: string, rank: number, { network }: RecordedRun): number[] {
  const file = readFileSync(join(folder, 'checkpoints', `rank-${rank}`, 'final.safetensors'));
  const byName = new Map(decodeSafetensors(file).tensors.map(({ name, data }) => [name, Array.from(data, Number)]));
  const names = layerNames(network).flatMap((layer) => weightOrder.map((weight) => `${layer}/${weight}`));
  return names.flatMap((name) => byName.get(name) ?? []);
}

describe('100 steps in separate processes equal those of PyTorch in float64', () => {
  it('are of every strategy', () => {
    expect(new Set(cases.map(kindOf))).toEqual(new Set(strategyKinds));
  });

  const titled = cases.map((one) => ({ ...one, kind: kindOf(one) }));
  it.each(titled)('$kind: $name', async ({ family, name, kind, change }) => {
    const run = readFamily(family).find((other) => other.name === name);
    if (run === undefined) throw new Error(`No run "${name}" is recorded of ${family}.`);
    const project = run.network === 'heads' ? 'recorded-heads' : 'recorded-runs';
    const { folder, record } = await train(hub(), project, {
      ...run.config,
      ...change,
      maxEpochs: 100,
      logEverySteps: 1,
      hyperparameters: { family, run: name },
    });
    expect(record).toMatchObject({ status: 'finished', error: null });
    const kept = strategyRules[kind].isOneModel ? [0] : run.initial.map((_, rank) => rank);
    // The last step of a pipelined run is followed by no point that could contain its loss.
    const points = name === 'one step stale' ? 99 : 100;
    for (const rank of kept) {
      const losses = metricValues(folder, `train/member_${rank}_loss`).map(Number);
      expect(largestDistance(losses, ofRank(run.losses, rank).slice(0, points))).toBeLessThan(
        tolerance(run.float32.loss),
      );
      const weights = ofRank(run.assembled ?? run.weights.get(100) ?? [], rank);
      expect(largestDistance(lastWeights(folder, rank, run), weights)).toBeLessThan(tolerance(run.float32.weight));
    }
  });
});
