import { describe, expect, it } from 'vitest';
import { scheduleSchema } from '../../../core/protocol/run/schedule-config.ts';
import type { ScheduleConfig } from '../../../core/protocol/run/config.ts';
import { followOthers } from '../../../workers/callbacks/follow-others.ts';
import { PlateauSchedule } from '../../../workers/callbacks/plateau-schedule.ts';
import { readGolden } from '../../golden/read-golden.ts';
import { createInMemoryGroup } from '../relay/in-memory-group.ts';
import { evaluationOf, FakeTraining } from './fakes.ts';

/** Results of `torch.optim.lr_scheduler.ReduceLROnPlateau` with a base rate of 1. */
interface Golden {
  cases: { options: Record<string, number | string>; scores: number[]; rates: number[] }[];
}

const golden = readGolden('plateau/plateau.json') as Golden;
const nll = 'val/ens_nll';

function plateau(options: Record<string, unknown>): PlateauSchedule {
  const config = scheduleSchema.parse({ kind: 'plateau', monitor: nll, ...options });
  return new PlateauSchedule(config as Extract<ScheduleConfig, { kind: 'plateau' }>);
}

/** Shows one score per epoch. @returns what is left of the rate in the next epoch, for each */
async function show(schedule: PlateauSchedule, scores: readonly number[], training = new FakeTraining()) {
  const factors: number[] = [];
  for (const score of scores) {
    await schedule.onEvaluation(training, evaluationOf({ [nll]: score }));
    training.epoch += 1;
    factors.push(schedule.rateFactorAt(training.epoch));
  }
  return factors;
}

describe('PlateauSchedule', () => {
  it('does not count NaN towards its patience, nor the cooldown', async () => {
    const schedule = plateau({ patience: 1, factor: 0.5, cooldown: 1 });
    const training = new FakeTraining();
    expect(await show(schedule, [NaN, NaN, NaN, 1, NaN, 2, NaN], training)).toEqual([1, 1, 1, 1, 1, 1, 1]);
    // The second evaluation without improvement reduces the rate, and the first after it cools.
    expect(await show(schedule, [2, NaN, 2, 2, 2], training)).toEqual([0.5, 0.5, 0.5, 0.5, 0.25]);
    expect(training.announcements[0]).toContain('no improvement in 2 evaluations, best 1.');
  });

  it.each(golden.cases)('has the rates of ReduceLROnPlateau: $options', async ({ options, scores, rates }) => {
    const factors = await show(plateau(options), scores);
    factors.forEach((factor, i) => expect(factor).toBeCloseTo(rates[i], 12));
  });

  it.each(golden.cases)('continues from its saved state: $options', async ({ options, scores, rates }) => {
    const [first, second] = [plateau(options), plateau(options)];
    const training = new FakeTraining();
    await show(first, scores.slice(0, 17), training);
    second.restore(JSON.parse(JSON.stringify(first.state())));
    const factors = await show(second, scores.slice(17), training);
    factors.forEach((factor, i) => expect(factor).toBeCloseTo(rates[17 + i], 12));
  });

  it('announces a reduction once for all ranks', async () => {
    const { groups } = createInMemoryGroup([0, 1]);
    const ranks = groups.map((group) => new FakeTraining({ group }));
    for (const training of ranks) await show(plateau({ patience: 0, factor: 0.5 }), [1, 2], training);
    expect(ranks[0].announcements).toEqual([
      'learning-rate-reduced: val/ens_nll: no improvement in 1 evaluations, best 1. The learning rate is ' +
        'now 0.5 of the base rate.',
    ]);
    expect(ranks[1].announcements).toEqual([]);
  });

  it('gives a missing member the reductions of the others, at the same epochs', async () => {
    const others = plateau({ patience: 0, factor: 0.5 });
    await show(others, [1, 2, 0.5, 3]);
    const decisions = { callbacks: { 'plateau-schedule': others.state() }, best: null, bestPredictionsEpoch: null };
    const config = { earlyStopping: { joint: false }, keepPredictions: 'none' } as Parameters<typeof followOthers>[1];
    const [followed] = followOthers([plateau({ patience: 0, factor: 0.5 })], config, decisions);
    expect([0, 1, 2, 3, 4].map((epoch) => followed.rateFactorAt?.(epoch))).toEqual([1, 1, 0.5, 0.5, 0.25]);
  });
});
