import { expect, test } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { epochsBetweenEvaluations } from '../../../src-main/discovery/train-round.ts';

const of = (config: RunConfigInput): number =>
  epochsBetweenEvaluations(runConfigSchema.parse({ maxEpochs: 30, ...config }));

test('ranks that exchange nothing meet only at the end of a round', () => {
  expect(of({})).toBe(30);
  expect(of({ evaluateEveryEpochs: 40 })).toBe(40);
});

test('ranks meet as configured where an evaluation or an exchange changes the weights', () => {
  expect(of({ earlyStopping: { enabled: true } })).toBe(1);
  expect(of({ schedule: { kind: 'plateau' }, evaluateEveryEpochs: 2 })).toBe(2);
  expect(of({ strategy: { kind: 'coupled' } })).toBe(1);
});
