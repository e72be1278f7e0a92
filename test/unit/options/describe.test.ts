import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions, setPath } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

function describeOne(leaf: z.ZodType) {
  return describeOptions(z.object({ leaf }))[0];
}

describe('describeOptions on one option', () => {
  it('reads type, default, bounds, unit and help', () => {
    const width = z.int().min(1).max(4096).default(64).meta({ help: 'Units in a layer.', unit: 'units' });
    expect(describeOptions(z.object({ hiddenWidth: width }))).toEqual([
      {
        path: 'hiddenWidth',
        flag: '--hidden-width',
        type: 'integer',
        help: 'Units in a layer.',
        unit: 'units',
        default: 64,
        minimum: 1,
        maximum: 4096,
      },
    ]);
  });

  it('distinguishes exclusive from inclusive bounds, and gives whole numbers no implicit bounds', () => {
    expect(describeOne(z.number().min(0).lt(1))).toMatchObject({ type: 'number', minimum: 0, exclusiveMaximum: 1 });
    expect(describeOne(z.number().positive().max(1))).toMatchObject({ exclusiveMinimum: 0, maximum: 1 });
    const free = describeOne(z.int());
    expect([free.minimum, free.maximum]).toEqual([undefined, undefined]);
  });

  it.each([
    ['boolean', z.boolean().default(true)],
    ['string', z.string().default('relu')],
    ['choice', z.enum(['relu', 'tanh'])],
    ['choice', z.literal('relu')],
    ['number', z.number().optional()],
    ['json', z.array(z.int()).default([512, 512])],
    ['json', z.record(z.string(), z.unknown())],
    ['json', z.int().nullable()],
    ['number', z.literal([1, 2])],
    ['json', z.date()],
  ])('%s', (type, schema) => expect(describeOne(schema).type).toBe(type));

  it('keeps the help of each literal in a union', () => {
    const activation = z.union([z.literal('relu').meta({ help: 'max(0, x)' }), z.literal('tanh')]);
    expect(describeOne(activation).choices).toEqual([
      { value: 'relu', help: 'max(0, x)' },
      { value: 'tanh', help: '' },
    ]);
  });

  it("takes zod's description if there is no help, and has no default for a required value", () => {
    const option = describeOne(z.number().describe('Rate.'));
    expect(option.help).toBe('Rate.');
    expect(option.default).toBeUndefined();
  });
});

describe('describeOptions on nested schemas', () => {
  const noise = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('none').meta({ help: 'No noise.' }) }),
    z.object({ kind: z.literal('gaussian'), scale: z.number().default(1), mean: z.number().default(0) }),
    z.object({ kind: z.literal('uniform'), scale: z.number().default(2) }),
  ]);

  it('names members by dotted paths and their section', () => {
    const schema = z.object({ stop: z.object({ minDelta: z.number().default(0) }).meta({ help: 'When to stop.' }) });
    expect(describeOptions(schema)[0]).toMatchObject({
      path: 'stop.minDelta',
      flag: '--stop.min-delta',
      section: { path: 'stop', help: 'When to stop.' },
    });
  });

  it('turns a union into a choice of kinds, and separates options that differ between kinds', () => {
    const described = describeOptions(z.object({ noise: noise.prefault({ kind: 'none' }).meta({ help: 'Noise.' }) }));
    expect(described.map(({ path, flag, default: standard, when }) => [path, flag, standard, when?.equals])).toEqual([
      ['noise.kind', '--noise', 'none', undefined],
      ['noise.scale', '--noise.scale', 1, ['gaussian']],
      ['noise.scale', '--noise.scale', 2, ['uniform']],
      ['noise.mean', '--noise.mean', 0, ['gaussian']],
    ]);
    expect(described[0].choices).toEqual([
      { value: 'none', help: 'No noise.' },
      { value: 'gaussian', help: '' },
      { value: 'uniform', help: '' },
    ]);
  });

  it("prefers an object's default to its members'", () => {
    const stop = z.object({ enabled: z.boolean().default(false), patience: z.int().default(20) });
    const schema = z.object({
      stop: stop.prefault({ enabled: true }),
      noise: noise.prefault({ kind: 'gaussian', scale: 3 }),
    });
    const defaults = describeOptions(schema).map(({ path, default: standard }) => [path, standard]);
    expect(defaults).toEqual([
      ['stop.enabled', true],
      ['stop.patience', 20],
      ['noise.kind', 'gaussian'],
      ['noise.scale', 3],
      ['noise.scale', 2],
      ['noise.mean', 0],
    ]);
  });
});

describe('describeOptions on the run configuration', () => {
  const options = describeOptions(runConfigSchema);
  const find = (path: string) => options.filter((option) => option.path === path);

  it('describes every option with a help and a default', () => {
    expect(options.filter((option) => option.help === '' || option.default === undefined)).toEqual([]);
  });

  it('knows a selection of devices, and the optimizers with their default rates', () => {
    expect(find('devices')[0]).toMatchObject({ type: 'device-selection', default: 'auto' });
    expect(find('optimizer.kind')[0]).toMatchObject({ flag: '--optimizer', default: 'adam' });
    expect(find('optimizer.learningRate').map((option) => [option.default, option.when?.equals])).toEqual([
      [0.01, expect.arrayContaining(['sgd'])],
      [0.001, expect.arrayContaining(['adam', 'adamw', 'rmsprop', 'lamb'])],
      [0.0001, expect.arrayContaining(['lion'])],
    ]);
    expect(find('timeouts.collectiveMs')[0]).toMatchObject({ default: 120_000, unit: 'ms', type: 'integer' });
  });

  it('gives the defaults that the schema fills in', () => {
    const unconditional = options.filter(({ when }) => when === undefined);
    const config = unconditional.reduce((so, { path, default: standard }) => setPath(so, path, standard), {});
    expect(runConfigSchema.parse(config)).toEqual(runConfigSchema.parse({}));
    expect(runConfigSchema.parse({})).toMatchObject(config);
  });
});
