import { describe, expect, it } from 'vitest';
import { ObservingCallback, type ProjectCallback } from '../../../workers/callbacks/project-callback.ts';
import { Generator, installAsMathRandom } from '../../../workers/random/index.ts';
import { evaluationOf, FakeTraining } from './fakes.ts';

const seed = 5;
const end = { loss: 0.5, learningRate: 0.01 };

function observe(observer: ProjectCallback): { callback: ObservingCallback; training: FakeTraining } {
  return {
    callback: new ObservingCallback(observer, seed, String),
    training: new FakeTraining({ rank: 3, members: 4 }),
  };
}

describe("a project's callback", () => {
  it("sees its rank's position and logs under its own name", async () => {
    const seen: unknown[] = [];
    const { callback, training } = observe({
      name: 'watcher',
      onStepEnd: ({ rank, members, epoch, step, loss, learningRate, log }) => {
        seen.push([rank, members, epoch, step, loss, learningRate]);
        log('loss', loss ?? NaN);
      },
      onEpochEnd: ({ print }) => print('done'),
    });
    training.step = 7;
    callback.onStepEnd(training, end);
    await callback.onEpochEnd(training);
    await callback.onEvaluation(training, evaluationOf({ 'val/ens_nll': 1 }));
    expect(seen).toEqual([[3, 4, 0, 7, 0.5, 0.01]]);
    expect(training.logged).toEqual([['watcher/member_3_loss', 0.5]]);
    expect(training.announcements).toEqual(['print: done']);
  });

  it('gets copies', async () => {
    const { callback, training } = observe({
      name: 'vandal',
      onEvaluation: ({ metrics, predictions }) => {
        for (const values of predictions.values) values.fill(-1);
        (metrics as Map<string, number>).clear();
      },
    });
    const evaluation = evaluationOf({ 'val/ens_nll': 1 });
    await callback.onEvaluation(training, evaluation);
    expect(evaluation.metrics).toEqual(new Map([['val/ens_nll', 1]]));
    expect(evaluation.predictions.values).toEqual([Float32Array.of(1, 0, 0, 1)]);
  });

  it('draws random numbers from its own stream, the same ones at the same step', () => {
    const drawn: number[] = [];
    const draw = (): void => void drawn.push(Math.random());
    const { callback, training } = observe({ name: 'gambler', onStepEnd: draw });
    const [own, untouched] = [new Generator(1, 'member'), new Generator(1, 'member')];
    const restore = installAsMathRandom(own);
    for (training.step of [1, 2, 1]) callback.onStepEnd(training, end);
    const next = Math.random();
    restore();
    expect(next).toBe(untouched.uniform());
    expect(drawn[0]).not.toBe(drawn[1]);
    expect(drawn[2]).toBe(drawn[0]);
  });

  it.each<[string, ProjectCallback, RegExp]>([
    ['throws', { name: 'a', onStepEnd: () => expect.fail('Enough.') }, /failed in onStepEnd .*Enough/],
    ['returns a promise', { name: 'a', onStepEnd: async () => {} }, /leave out async/],
    ['logs under no name', { name: 'a', onStepEnd: ({ log }) => log('x,y', 1) }, /"x,y" cannot name a metric/],
  ])('that %s is reported once and not called again', (_what, observer, message) => {
    const { callback, training } = observe(observer);
    for (training.step of [1, 2]) callback.onStepEnd(training, end);
    expect(training.announcements).toHaveLength(1);
    expect(training.announcements[0]).toMatch(message);
    expect(training.logged).toEqual([]);
  });

  it.each(['', 'two words', 'a/b', 'val'])('cannot be named "%s"', (name) => {
    expect(() => observe({ name })).toThrow(/cannot head the names of metrics/);
  });
});
