import { describe, expect, it } from 'vitest';
import { HdetController } from '../../../workers/strategies/hdet/controller.ts';
import { readGolden } from '../../golden/read-golden.ts';

/** The results of the reference implementation of `OneCycleAutoLR` on a quadratic loss with four ranks. */
interface Golden {
  cases: {
    options: Record<string, number>;
    syncs: { first_step: number; mean_lr: number; multiplier_of_rank: number[] }[];
    world: number;
    gamma: number;
    H: number[][];
    target: number[];
    ranks: { lr: number; loss: number; w: number[] }[][];
  }[];
}

const learningRate = 'learning_rate';

/** The loss ½ (w − t)ᵀ H (w − t) and its gradient. */
function quadratic(hessian: number[][], target: number[], weights: readonly number[]) {
  const offset = weights.map((weight, i) => weight - target[i]);
  const gradient = hessian.map((row) => row.reduce((sum, entry, j) => sum + entry * offset[j], 0));
  return { gradient, loss: 0.5 * gradient.reduce((sum, entry, i) => sum + entry * offset[i], 0) };
}

const meanOver = (rows: readonly (readonly number[])[]): number[] =>
  rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / rows.length);

/** Trains from the recorded weights before the first sync to the end, with the recorded permutations. */
function train({ options, syncs, world, gamma, H, target, ranks }: Golden['cases'][number]) {
  const first = syncs[0].first_step;
  const controllerOptions = {
    spread: options.ensemble_lr_spread_ratio,
    lossScale: options.loss_scale,
    adaptation: options.lr_of_lr,
    inertia: options.momentum_of_lr,
    worldSize: world,
    seed: 0,
  };
  const controller = new HdetController(controllerOptions, new Map([[learningRate, syncs[0].mean_lr]]));
  const deal = (sync: number): void => {
    const { syncs: count, scalars } = controller.state;
    const dealt = syncs[sync]?.multiplier_of_rank ?? scalars[0].multiplierOfRank;
    controller.restore({ syncs: count, scalars: [{ ...scalars[0], multiplierOfRank: dealt }] });
  };
  let weights = ranks.map((rank) => rank[first - 1].w);
  let sums = ranks.map(() => 0);
  const interval = options.model_sync_interval;
  const trained: { lr: number[]; w: number[][] }[] = [];
  deal(0);
  for (let step = first; step < ranks[0].length; step++) {
    const lr = ranks.map((_, rank) => controller.value(learningRate, rank));
    const steps = weights.map((own) => quadratic(H, target, own));
    const gradient = meanOver(steps.map((own) => own.gradient));
    sums = sums.map((sum, rank) => sum + steps[rank].loss);
    weights = weights.map((own, rank) => own.map((weight, i) => weight - lr[rank] * gradient[i]));
    if ((step + 1) % interval === 0) {
      const mean = meanOver(weights);
      weights = weights.map(() => mean);
      controller.sync(
        sums.map((sum) => sum / interval),
        () => ({ decay: gamma, floor: 0 }),
      );
      sums = sums.map(() => 0);
      deal((step + 1 - first) / interval);
    }
    trained.push({ lr, w: weights });
  }
  return trained;
}

describe('HDET on a quadratic loss', () => {
  it.each((readGolden('hdet/hdet.json') as Golden).cases)(
    'gives the learning rates and weights of the reference implementation to 1e-5',
    (golden) => {
      const first = golden.syncs[0].first_step;
      const trained = train(golden);
      expect(trained).toHaveLength(40);
      trained.forEach(({ lr, w }, i) =>
        golden.ranks.forEach((recorded, rank) => {
          const { lr: expectedRate, w: expected } = recorded[first + i];
          expect(Math.abs(lr[rank] - expectedRate)).toBeLessThan(1e-5);
          w[rank].forEach((weight, j) => expect(Math.abs(weight - expected[j])).toBeLessThan(1e-5));
        }),
      );
    },
  );
});
