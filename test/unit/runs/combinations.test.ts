import { describe, expect, it } from 'vitest';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { whyNotStopRank } from '../../../core/protocol/run/settings.ts';
import { samplerOf } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { type Combined, findConflicts, refuseCombinations } from '../../../src-main/runs/configuration/combinations.ts';
import { whyNotMapped } from '../../../src-main/processes/app-files.ts';
import { coreDevice } from './core-device.ts';

describe('refuseCombinations', () => {
  const classifier: Combined = { task: 'classification', hasOwnLoss: false };
  const planOf = (...waves: number[]): Placement[] => waves.map((wave, rank) => ({ rank, wave, device: coreDevice }));
  const configOf = (earlyStopping: object) => runConfigSchema.parse({ members: 3, earlyStopping });

  it('refuses joint early stopping in waves', () => {
    expect(() => refuseCombinations(configOf({ enabled: true }), planOf(0, 0, 1), classifier)).toThrow(
      'Joint early stopping needs all 3 ranks to train at the same time, but this plan has 2 ' +
        'waves. Use --placement share, ' +
        'fewer ranks (--members), or --early-stopping.joint false.',
    );
  });

  it("refuses joint early stopping on a member's own metric", () => {
    const config = configOf({ enabled: true, monitor: 'val/member_{rank}_nll' });
    expect(() => refuseCombinations(config, planOf(0, 0, 0), classifier)).toThrow(
      'Joint early stopping cannot monitor "val/member_{rank}_nll": it differs from rank to rank.',
    );
  });

  it.each([
    { earlyStopping: { enabled: true }, waves: [0, 0, 0] },
    { earlyStopping: { enabled: true, joint: false, monitor: 'val/member_{rank}_nll' }, waves: [0, 0, 1] },
    { earlyStopping: { enabled: false }, waves: [0, 1, 2] },
  ])('allows $earlyStopping in waves $waves', ({ earlyStopping, waves }) => {
    expect(() => refuseCombinations(configOf(earlyStopping), planOf(...waves), classifier)).not.toThrow();
  });

  it.each([{ blas: 'on' as const }, { backend: 'tensorflow' as const }, { backend: 'webgpu' as const }])(
    'refuses deterministic results with %o',
    (other) => {
      const config = runConfigSchema.parse({ determinism: 'deterministic', ...other });
      expect(() => refuseCombinations(config, planOf(0, 0), classifier)).toThrow(
        'results differ in their last bits from machine to machine. Omit it, train on --devices cpu, or ' +
          'use --determinism relaxed.',
      );
      const allowed = runConfigSchema.parse({ determinism: 'deterministic' });
      expect(() => refuseCombinations(allowed, planOf(0, 0), classifier)).not.toThrow();
    },
  );

  describe('with members that exchange at every step', () => {
    const joint = (overrides: RunConfigInput) =>
      runConfigSchema.parse({ members: 3, strategy: { kind: 'joint' }, ...overrides });
    const conflicts = (overrides: RunConfigInput, plan = planOf(0, 0, 0), project: Partial<Combined> = {}) =>
      findConflicts(joint(overrides), plan, { ...classifier, ...project }).map(({ message }) => message);

    it('refuses waves', () => {
      expect(conflicts({}, planOf(0, 0, 1))).toEqual([
        expect.stringContaining(
          'With the strategy joint all 3 ranks train at the same time, but this plan has 2 waves. Use ' +
            '--placement share or fewer ' +
            'ranks (--members).',
        ),
      ]);
    });

    it('refuses that a single rank stops', () => {
      expect(conflicts({ earlyStopping: { enabled: true, joint: false } })).toEqual([
        expect.stringContaining(
          'With the strategy joint no rank can stop before the others, which need it at every step. Use ' +
            '--early-stopping.joint true.',
        ),
      ]);
    });

    it('refuses an order of samples that differs between ranks', () => {
      expect(conflicts({ sampler: 'shuffled' })).toEqual([
        expect.stringContaining(
          'The strategy joint cannot train with --sampler shuffled: it needs shared or sequential. Leave it at ' +
            'auto, which takes shared.',
        ),
      ]);
    });

    it('refuses other tasks, and a loss of the project', () => {
      expect(conflicts({}, undefined, { task: 'ordinal' })).toEqual([
        expect.stringContaining(
          "and this project's task is ordinal: the mean of the members' outputs must be the output",
        ),
      ]);
      expect(conflicts({}, undefined, { hasOwnLoss: true })).toEqual([
        expect.stringContaining('The strategy joint has its own loss, and so has this project.'),
      ]);
    });

    it('smooths the labels of its product', () => {
      expect(conflicts({ loss: { labelSmoothing: 0.1, temperature: 2 } })).toEqual([]);
    });

    it('allows everything else', () => {
      expect(conflicts({ sampler: 'sequential', earlyStopping: { enabled: true } })).toEqual([]);
    });
  });

  it('refuses other numbers of cuts than the parts of a model need', () => {
    const conflicts = (members: number, strategy: object) =>
      findConflicts(runConfigSchema.parse({ members, strategy: { kind: 'pipeline', ...strategy } }), planOf(0, 0), {
        ...classifier,
      }).map(({ path, message }) => `${path}: ${message}`);
    expect(conflicts(3, { cuts: ['a'] })).toEqual([
      expect.stringContaining('strategy.cuts: strategy.cuts names 1 layer(s), and 3 ranks that share a model need 2'),
    ]);
    expect(conflicts(1, { cuts: ['a'] })).toEqual([expect.stringContaining('1 ranks that share a model need 0')]);
    expect(conflicts(4, { stages: 2, cuts: ['a', 'b', 'c'] })).toEqual([expect.stringContaining('2 ranks')]);
    for (const own of [{ cuts: [] }, { cuts: ['a', 'b', 'c'] }, { stages: 2, cuts: ['a'] }])
      expect(conflicts(4, own)).toEqual([]);
  });

  describe('with batches that one rank broadcasts', () => {
    const conflicts = (overrides: RunConfigInput, plan = planOf(0, 0, 0)) =>
      findConflicts(
        runConfigSchema.parse({ members: 3, data: { mode: 'broadcast' }, ...overrides }),
        plan,
        classifier,
      ).map(({ path, message }) => `${path}: ${message}`);

    it.each(['data-parallel', 'sharded', 'hdet', 'coupled'] as const)('refuses the strategy %s', (kind) => {
      expect(conflicts({ strategy: { kind }, schedule: { kind: 'one-cycle' } })).toEqual([
        `data.mode: With the strategy ${kind} every rank needs different samples, so the first cannot ` +
          'broadcast its batches. Use ' +
          '--data.mode local or shared.',
      ]);
    });

    it('refuses an order of samples that differs between ranks', () => {
      expect(conflicts({ sampler: 'sharded' })).toEqual([
        'sampler: With --data.mode broadcast all ranks train on the same batches, which --sampler sharded does ' +
          'not give: it needs shared ' +
          'or sequential. Leave it at auto, which takes shared.',
      ]);
    });

    it('refuses that a single rank stops', () => {
      expect(conflicts({ earlyStopping: { enabled: true, joint: false } })).toEqual([
        'earlyStopping.joint: With batches that the first rank broadcasts no rank can stop before the others, ' +
          'which need it at every step. ' +
          'Use --early-stopping.joint true.',
      ]);
      expect(whyNotStopRank(runConfigSchema.parse({ data: { mode: 'broadcast' } }))).toBe(
        'With batches that the first rank broadcasts every step needs all ranks, so a single rank cannot ' +
          'stop. Stop all ranks jointly.',
      );
    });

    it('allows independent and joint members, also in waves', () => {
      expect(conflicts({ earlyStopping: { enabled: true } })).toEqual([]);
      expect(conflicts({ strategy: { kind: 'joint' }, sampler: 'sequential' })).toEqual([]);
      expect(conflicts({}, planOf(0, 0, 1))).toEqual([]);
    });
  });

  it('refuses residuals of encoded gradients with hdet, whose syncs do not know them', () => {
    const config = runConfigSchema.parse({ strategy: { kind: 'hdet', compression: '1-bit' } });
    expect(findConflicts(config, planOf(0, 0), classifier).map(({ path }) => path)).toContain('strategy.compression');
  });

  it.each<[RunConfigInput, string[]]>([
    [{ strategy: { kind: 'sharded', stage: 3 } }, []],
    [{ strategy: { kind: 'sharded', stage: 2 }, ema: { decay: 0.9 }, backend: 'webgpu' }, []],
    [
      { strategy: { kind: 'sharded', stage: 3 }, ema: { decay: 0.9 } },
      [
        'ema.decay: Stage 3 of the strategy sharded keeps no whole weights, of which --ema.decay averages. Use ' +
          '--strategy.stage 2, or --ema.decay 0.',
      ],
    ],
    [
      { strategy: { kind: 'sharded', stage: 3 }, backend: 'tensorflow' },
      [
        'strategy.stage: Stage 3 of the strategy sharded frees weights between their uses, which the tensorflow ' +
          'backend cannot. Use --strategy.stage 2, ' +
          'or --backend wasm.',
      ],
    ],
    [
      { strategy: { kind: 'sharded', stage: 2 }, activationCheckpointing: 'sqrt' },
      [
        'activationCheckpointing: Stage 2 of the strategy sharded computes one layer at a time and keeps all ' +
          'activations. Use --strategy.stage 1, ' +
          'or --activation-checkpointing none.',
      ],
    ],
  ])('refuses stage 3 of sharded training where whole weights are needed: %j', (config, expected) => {
    const conflicts = findConflicts(runConfigSchema.parse(config), planOf(0, 0), classifier);
    expect(conflicts.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected);
  });

  it.each<[RunConfigInput, string[]]>([
    [{ optimizer: { kind: 'adam', statePrecision: 'bfloat16' }, backend: 'wasm' }, []],
    [
      { optimizer: { kind: 'adam', statePrecision: 'bfloat16' }, backend: 'webgpu' },
      [
        "optimizer.statePrecision: The webgpu backend has no kernel that packs an optimizer's state to " +
          'bfloat16. Use --optimizer.state-precision float32, or ' +
          '--backend wasm.',
      ],
    ],
    [
      { optimizer: { kind: 'adam', statePrecision: 'bfloat16' }, membersPerDevice: 4 },
      [
        "optimizer.statePrecision: A worker that trains 4 members as one computation keeps their optimizers' " +
          'state as float32, not bfloat16. Use ' +
          '--members-per-device 1, or --optimizer.state-precision float32.',
      ],
    ],
    [{ strategy: { kind: 'sharded', stage: 3, weightPrecision: 'bfloat16' } }, []],
    [
      { strategy: { kind: 'sharded', stage: 2, weightPrecision: 'bfloat16' } },
      [
        'strategy.weightPrecision: Stage 2 of the strategy sharded keeps whole weights in float32 for the ' +
          'passes of the layers. Use --strategy.stage 3, or ' +
          '--strategy.weight-precision float32.',
      ],
    ],
  ])('refuses packed weights and optimizer state where nothing packs them: %j', (config, expected) => {
    const conflicts = findConflicts(runConfigSchema.parse(config), planOf(0, 0), classifier);
    expect(conflicts.map(({ path, message }) => `${path}: ${message}`)).toEqual(expected);
  });

  it.each<[RunConfigInput, string | null]>([
    [{}, null],
    [{ strategy: { kind: 'coupled' } }, null],
    [{ strategy: { kind: 'joint' } }, 'shared'],
    [{ strategy: { kind: 'data-parallel' } }, 'sharded-uneven'],
    [{ sampler: 'sequential' }, 'sequential'],
    [{ data: { bagging: true, mode: 'broadcast' } }, 'shared'],
  ])('refuses bagging where ranks have no samples of their own: %j', (config, sampler) => {
    const conflicts = findConflicts(
      runConfigSchema.parse({ data: { bagging: true }, ...config }),
      planOf(0, 0),
      classifier,
    );
    const named = conflicts.map(({ path, message }) => [path, /--sampler (\S+)/.exec(message)?.[1]]);
    expect(named).toEqual(sampler === null ? [] : [['data.bagging', sampler]]);
  });

  it.each(['independent', 'joint', 'pipeline', 'data-parallel', 'sharded'] as const)(
    'lets the number of ranks follow the devices only where any rank can take any part: %s',
    (kind) => {
      const config = runConfigSchema.parse({
        onMemberLoss: { kind: 'restart', worldSize: 'devices' },
        strategy: { kind },
      });
      const conflicts = findConflicts(config, planOf(0, 0), classifier);
      const mayFollow = kind === 'data-parallel' || kind === 'sharded';
      expect(conflicts.map(({ path }) => path)).toEqual(mayFollow ? [] : ['onMemberLoss.worldSize']);
    },
  );

  it.each<[RunConfigInput, [path: string, part: string][]]>([
    [{ members: 5, data: { holdOut: 0.4 } }, []],
    [{ members: 5, data: { holdOut: 0.5 } }, [['data.holdOut', 'With 5 members, data.holdOut is at most 2 / 5.']]],
    [{ members: 1, data: { holdOut: 0.1 } }, [['data.holdOut', 'Use --members 2 or more']]],
    [
      { strategy: { kind: 'joint' }, data: { holdOut: 0.1 } },
      [['data.holdOut', '(strategy joint, --data.mode local)']],
    ],
    [{ onMemberLoss: { kind: 'continue' }, data: { holdOut: 0.1 } }, [['onMemberLoss.kind', 'no other member']]],
    [{ data: { folds: 5, fold: 4 } }, []],
    [{ data: { folds: 5, fold: 5 } }, [['data.fold', 'Use --data.fold 0 to 4.']]],
    [{ data: { folds: 1 } }, [['data.folds', 'Use --data.folds 2 or more']]],
    [{ data: { fold: 1 } }, [['data.fold', 'Give --data.folds 5.']]],
    [{ data: { foldPerRank: true } }, [['data.foldPerRank', 'Give --data.folds 5.']]],
    [{ members: 6, data: { folds: 3, foldPerRank: true } }, []],
    [
      { members: 4, data: { folds: 3, foldPerRank: true } },
      [['data.foldPerRank', '4 members cannot hold out 3 folds']],
    ],
    [
      { data: { folds: 2, foldPerRank: true, holdOut: 0.1 } },
      [['data.holdOut', 'Each rank holds out either its fold']],
    ],
  ])('checks hold-outs and folds: %j', (config, expected) => {
    const found = findConflicts(runConfigSchema.parse(config), planOf(0, 0), classifier);
    expect(found.map(({ path }) => path)).toEqual(expected.map(([path]) => path));
    expected.forEach(([, part], i) => expect(found[i].message).toContain(part));
  });

  it('refuses shared data if files cannot be mapped', () => {
    expect(whyNotMapped('win32')).toBe('Data are not shared between processes on Windows yet.');
    const shared = runConfigSchema.parse({ data: { mode: 'shared' } });
    const reason = whyNotMapped();
    const expected = reason === null ? [] : [{ path: 'data.mode', message: `${reason} Use --data.mode local.` }];
    expect(findConflicts(shared, planOf(0, 0), classifier)).toEqual(expected);
  });
});

describe('samplerOf', () => {
  it('is the chosen order, or else the default of the strategy', () => {
    const sampler = (overrides: RunConfigInput) => samplerOf(runConfigSchema.parse(overrides));
    expect(sampler({})).toBe('shuffled');
    expect(sampler({ strategy: { kind: 'joint' } })).toBe('shared');
    expect(sampler({ data: { mode: 'broadcast' } })).toBe('shared');
    expect(sampler({ strategy: { kind: 'joint' }, sampler: 'sequential' })).toBe('sequential');
  });
});
