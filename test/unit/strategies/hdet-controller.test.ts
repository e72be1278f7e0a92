import { describe, expect, it } from 'vitest';
import { decayTo } from '../../../workers/strategies/hdet/hdet.ts';
import {
  HdetController,
  multiplierOfRank,
  spreadMultipliers,
  weightsOfRanks,
} from '../../../workers/strategies/hdet/controller.ts';

const options = { spread: 0.4, lossScale: 0.5, adaptation: 0.5, inertia: 0.75, worldSize: 2, seed: 42 };

describe('spread', () => {
  it('is even around 1: four ranks with α = 0.3 get 0.7, 0.9, 1.1, 1.3; one rank gets 1', () => {
    const four = spreadMultipliers(0.3, 4);
    [0.7, 0.9, 1.1, 1.3].forEach((multiplier, rank) => expect(four[rank]).toBeCloseTo(multiplier, 12));
    expect(spreadMultipliers(0.3, 2)).toEqual([0.7, 1.3]);
    expect(spreadMultipliers(0.3, 1)).toEqual([1]);
    expect(spreadMultipliers(0, 3)).toEqual([1, 1, 1]);
  });

  it('depends only on the shared seed, the sync and the scalar', () => {
    const ranks = 16;
    const dealt = multiplierOfRank(7, 3, 'learning_rate', ranks);
    expect(dealt.toSorted((a, b) => a - b)).toEqual(Array.from({ length: ranks }, (_, i) => i));
    expect(multiplierOfRank(7, 3, 'learning_rate', ranks)).toEqual(dealt);
    expect(multiplierOfRank(7, 4, 'learning_rate', ranks)).not.toEqual(dealt);
    expect(multiplierOfRank(7, 3, 'weight_decay', ranks)).not.toEqual(dealt);
    expect(multiplierOfRank(8, 3, 'learning_rate', ranks)).not.toEqual(dealt);
  });
});

describe('weights of ranks', () => {
  it('are a softmax of (mean − loss)/σ: losses σ·ln 3 apart weigh 3 to 1', () => {
    const [first, second] = weightsOfRanks([1, 1 + 0.5 * Math.log(3)], 0.5);
    expect(first).toBeCloseTo(0.75, 12);
    expect(second).toBeCloseTo(0.25, 12);
  });

  it('leave out a rank whose loss is not finite, and never overflow', () => {
    expect(weightsOfRanks([1, NaN, Infinity, 1], 0.1)).toEqual([0.5, 0, 0, 0.5]);
    expect(weightsOfRanks([NaN, NaN], 0.1)).toEqual([0.5, 0.5]);
    expect(weightsOfRanks([0, 1e6], 1e-3)).toEqual([1, 0]);
  });
});

describe('decay to the floor', () => {
  it('takes the requested number of syncs: from 1 to 1/16 in 4 halves each time', () => {
    expect(decayTo(1 / 16, 1, 4)).toBeCloseTo(0.5, 12);
    expect(decayTo(0.1, 0.1, 4)).toBe(0);
    expect(decayTo(0.25, 1, 0)).toBe(0.75);
  });
});

describe('the controller', () => {
  it('moves a base towards the values that performed better', () => {
    const controller = new HdetController(options, new Map([['learning_rate', 1]]));
    expect([controller.value('learning_rate', 0), controller.value('learning_rate', 1)]).toEqual([0.6, 1.4]);
    // Weights 3/4 and 1/4: δ = 0.75·0.6 + 0.25·1.4 − 1 = −0.2; v = 0.25·δ = −0.05; base = 0.9 − 0.025.
    const [adapted] = controller.sync([1, 1 + 0.5 * Math.log(3)], () => ({ decay: 0.1, floor: 0 }));
    expect(adapted.velocity).toBeCloseTo(-0.05, 12);
    expect(adapted.base).toBeCloseTo(0.875, 12);
    expect(controller.base('learning_rate')).toBe(adapted.base);
    // Equal losses: δ = 0; v = 0.75·v.
    expect(controller.sync([1, 1], () => ({ decay: 0, floor: 0 }))[0].velocity).toBeCloseTo(-0.0375, 12);
  });

  it('keeps a base at its floor, whatever its velocity', () => {
    const controller = new HdetController(options, new Map([['learning_rate', 1]]));
    for (let sync = 0; sync < 20; sync++) controller.sync([1, 9], () => ({ decay: 0.5, floor: 0.01 }));
    expect(controller.base('learning_rate')).toBe(0.01);
  });

  it('permutes every scalar independently, and resumes from its state', () => {
    const bases = new Map([
      ['learning_rate', 1],
      ['weight_decay', 0.1],
    ]);
    const many = { ...options, worldSize: 16 };
    const controller = new HdetController(many, bases);
    controller.sync(
      Array.from({ length: 16 }, (_, rank) => rank),
      () => ({ decay: 0, floor: 0 }),
    );
    const [rate, decay] = controller.state.scalars;
    expect(rate.multiplierOfRank).not.toEqual(decay.multiplierOfRank);
    const resumed = new HdetController(many, bases);
    resumed.restore(JSON.parse(JSON.stringify(controller.state)));
    const losses = Array.from({ length: 16 }, (_, rank) => rank % 3);
    expect(resumed.sync(losses, () => ({ decay: 0.1, floor: 0 }))).toEqual(
      controller.sync(losses, () => ({ decay: 0.1, floor: 0 })),
    );
    expect(resumed.state).toEqual(controller.state);
  });

  it('refuses the state of other scalars and a scalar that does not diverge', () => {
    const controller = new HdetController(options, new Map([['dropout', 0.5]]));
    const other = new HdetController(options, new Map([['weight_decay', 0.5]]));
    expect(() => controller.restore(other.state)).toThrow(/diverges in weight_decay, this run in dropout/);
    expect(() => controller.value('learning_rate', 0)).toThrow('"learning_rate" does not diverge');
  });
});
