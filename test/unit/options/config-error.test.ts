import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions, formatConfigError, unknownOptionMessage } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

const descriptions = describeOptions(runConfigSchema);

function explain(input: unknown, schema: z.ZodObject = runConfigSchema, known = descriptions): string[] {
  const { error } = schema.safeParse(input);
  if (error === undefined) throw new Error('The input was accepted.');
  return formatConfigError(error, { input, descriptions: known }).split('\n');
}

describe('formatConfigError', () => {
  it('writes a line per issue with path, value, rule and remedy', () => {
    expect(explain({ batchSize: 0, placement: 'both', members: '4' })).toEqual([
      'members is "4", but must be a whole number from 1 to 256. Leave it out for the default, 2.',
      'placement is "both", but must be one of share, waves. Leave it out for the default, "share".',
      'batchSize is 0, but must be a whole number of at least 1. Leave it out for the default, 128.',
    ]);
  });

  it('knows unions, their kinds and the defaults of a kind', () => {
    expect(explain({ devices: [] })).toEqual([
      'devices is [], but must be a selection of devices, such as auto, 2, or 0,2. Leave it out ' +
        'for the default, "auto".',
    ]);
    expect(explain({ schedule: { kind: 'cosin' } })).toEqual([
      expect.stringMatching(
        /^schedule\.kind is "cosin", but must be one of constant, cosine, [a-z, -]+\. Leave it out for the default, "constant"\.$/,
      ),
    ]);
    expect(explain({ optimizer: { kind: 'adamw', weightDecay: -1 } })).toEqual([
      'optimizer.weightDecay is -1, but must be a number of at least 0. Leave it out for the default, 0.01.',
    ]);
  });

  it('suggests a name for an unknown one, and names the kind to which an option of another kind belongs', () => {
    expect(explain({ maxEpoch: 3, earlyStopping: { patiance: 3 } })).toEqual([
      'There is no option earlyStopping.patiance. Did you mean earlyStopping.patience?',
      'There is no option maxEpoch. Did you mean maxEpochs?',
    ]);
    expect(explain({ strategy: { kind: 'independent', learningRateScaling: 'linear' } })).toEqual([
      'strategy.learningRateScaling does not exist while strategy.kind is "independent", only for ' +
        'data-parallel, sharded. Remove it, or change strategy.kind.',
    ]);
  });

  it('reports a missing required value', () => {
    const schema = z.object({ width: z.int().min(1) });
    expect(explain({}, schema, describeOptions(schema))).toEqual([
      'width is missing: it must be a whole number of at least 1. It has no default.',
    ]);
  });

  it("falls back on zod's message without descriptions", () => {
    const { error } = runConfigSchema.safeParse({ batchSize: 0, maxEpoch: 3 });
    expect(error && formatConfigError(error)).toBe(
      'batchSize: Too small: expected number to be >=1\nThere is no option maxEpoch. Remove it.',
    );
    expect(explain([], runConfigSchema, [])).toEqual([
      'The configuration is []: Invalid input: expected object, received array',
    ]);
  });
});

describe('unknownOptionMessage', () => {
  it.each([
    ['--optimiser', 'There is no option --optimiser. Did you mean --optimizer?'],
    ['--learning-rate', 'There is no option --learning-rate. Did you mean --optimizer.learning-rate?'],
    ['--batchsize', 'There is no option --batchsize. Did you mean --batch-size?'],
    ['--quux-and-more', 'There is no option --quux-and-more. --help lists the options.'],
  ])('%s', (name, message) => expect(unknownOptionMessage(name, descriptions)).toBe(message));

  it('lists the options if they are few and none is similar', () => {
    const hyperparameters = describeOptions(z.object({ width: z.int(), dropout: z.number() }));
    expect(unknownOptionMessage('widht', hyperparameters)).toBe('There is no option widht. Did you mean width?');
    expect(unknownOptionMessage('momentum', hyperparameters)).toBe(
      'There is no option momentum. The options are width, dropout.',
    );
  });
});
