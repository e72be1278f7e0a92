import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import { explainUnfitting } from '../../../core/studies/space/fit-options.ts';
import type { Parameter } from '../../../core/studies/space/domain.ts';

const options = [
  ...describeOptions(runConfigSchema),
  ...describeOptions(
    z.object({ weightDecay: z.number().positive().default(1), width: z.int().min(1).max(512).default(8) }),
  ),
];

const faultOf = (path: string, parameter: Parameter): string | undefined =>
  explainUnfitting({ [path]: parameter }, options).at(0)?.message;

describe('a space beside the options of a run', () => {
  it.each<[string, Parameter]>([
    ['weightDecay', { kind: 'log', low: 1e-5, high: 30 }],
    ['width', { kind: 'log-int', low: 16, high: 512 }],
    ['optimizer.kind', { kind: 'choice', choices: ['sgd', 'adam'] }],
    ['optimizer.momentum', { kind: 'float', low: 0, high: 0.99 }],
    ['data.bagging', { kind: 'choice', choices: [true, false] }],
    ['loss.labelSmoothing', { kind: 'step', low: 0, high: 0.3, step: 0.1 }],
  ])('accepts %s', (path, parameter) => {
    expect(faultOf(path, parameter)).toBeUndefined();
  });

  it.each<[string, Parameter, string]>([
    [
      'wieghtDecay',
      { kind: 'log', low: 1e-5, high: 30 },
      'There is no option wieghtDecay. Did you mean optimizer.weightDecay or weightDecay?',
    ],
    ['weightDecay', { kind: 'float', low: 0, high: 30 }, 'weightDecay would be 0, but must be a number above 0'],
    ['width', { kind: 'int', low: 1, high: 1024 }, 'width would be 1024, but must be a whole number from 1 to 512'],
    ['width', { kind: 'float', low: 1, high: 9 }, 'but must be a whole number'],
    ['optimizer.kind', { kind: 'choice', choices: ['sgd', 'adamm'] }, 'optimizer.kind would be "adamm"'],
    ['width', { kind: 'choice', choices: [8, '16'] }, 'width would be "16"'],
    [
      'seed',
      { kind: 'int', low: 0, high: 9 },
      'seed cannot be searched: a study repeats its trials with several seeds',
    ],
  ])('refuses %s with the remedy', (path, parameter, message) => {
    expect(faultOf(path, parameter)).toContain(message);
  });
});
