import { describe, expect, it } from 'vitest';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { findConflicts } from '../../../src-main/runs/configuration/combinations.ts';

const messagesOf = (input: RunConfigInput, hasOwnLoss = false, task = 'classification'): string[] => {
  const plan = [{ rank: 0, wave: 0 }] as unknown as Parameters<typeof findConflicts>[1];
  return findConflicts(runConfigSchema.parse(input), plan, { task, hasOwnLoss }).map(({ message }) => message);
};
const hdet = (options: object, more: RunConfigInput = {}): RunConfigInput => ({
  schedule: { kind: 'one-cycle' },
  ...more,
  strategy: { kind: 'hdet', ...options } as never,
});

describe('combinations with HDET', () => {
  it.each([
    hdet({}),
    hdet({ decay: 0.1 }, { schedule: { kind: 'constant' } }),
    hdet({ adapt: false }, { schedule: { kind: 'cosine' } }),
    hdet(
      { diverge: ['weightDecay', 'labelSmoothing', 'temperature'] },
      {
        optimizer: { kind: 'adamw' },
        loss: { labelSmoothing: 0.1 },
      },
    ),
  ])('%j is allowed', (input) => expect(messagesOf(input)).toEqual([]));

  it.each([
    [hdet({}, { schedule: { kind: 'constant' } }), 'With --schedule constant --strategy.decay has no last rate'],
    [{ ...hdet({}), warmStart: { noise: 0.1 } }, '--warm-start.noise 0.1 needs the weights of a warm start'],
    [hdet({ diverge: ['weightDecay'] }), 'cannot diverge in weightDecay: ranks would differ by fractions of 0'],
    [hdet({ diverge: ['labelSmoothing'] }), 'cannot diverge in labelSmoothing'],
    [hdet({ diverge: ['width'] }), 'cannot diverge in "width": it must be one of learningRate'],
    [hdet({ diverge: ['width'] }, { hyperparameters: { width: 3 } }), 'no own loss that could read it'],
  ])('%j is refused', (input, message) => expect(messagesOf(input)[0]).toContain(message));

  it("allows ranks to differ in a number that the project's loss reads, and in no other", () => {
    const input = hdet({ diverge: ['margin'] }, { hyperparameters: { margin: 3 } });
    expect(messagesOf(input, true)).toEqual([]);
    expect(messagesOf(hdet({ diverge: ['temperature'] }), true)[0]).toContain('own loss does not read it');
  });
});

describe('label smoothing', () => {
  it("is refused unless the classification task's loss is used", () => {
    const input: RunConfigInput = { loss: { labelSmoothing: 0.1 } };
    expect(messagesOf(input)).toEqual([]);
    for (const messages of [messagesOf(input, true), messagesOf(input, false, 'regression')]) {
      expect(messages).toEqual([expect.stringContaining('Label smoothing 0.1 and temperature 1 change')]);
    }
  });
});
