import { describe, expect, it } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { describeOptions, type OptionDescription, type PlainObject } from '../../../core/options/index.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';
import {
  formSections,
  sectionsMatching,
  whyIdle,
  whyNoDevices,
  whyUnavailable,
} from '../../../src-renderer/views/configure/form-sections.ts';
import { namedDevices, plannedDevices, toggleDevice } from '../../../src-renderer/views/configure/device-plan.ts';
import {
  type FormValues,
  isChanged,
  isVisible,
  overridesFrom,
  readOverrides,
  valueOf,
  withValue,
  writeOverrides,
} from '../../../src-renderer/views/configure/form-values.ts';

const options = describeOptions(runConfigSchema);
/** A project that prefers a learning rate and early stopping. */
const defaults: PlainObject = {
  ...runConfigSchema.parse({ optimizer: { kind: 'adam', learningRate: 0.01 }, earlyStopping: { enabled: true } }),
};

function option(path: string, kind?: string): OptionDescription {
  const found = options.find((one) => one.path === path && (kind === undefined || one.when?.equals.includes(kind)));
  if (found === undefined) throw new Error(`There is no option ${path}.`);
  return found;
}
const over = (overrides: PlainObject): FormValues => ({ options, defaults, overrides });

describe('values of the form', () => {
  it("are the project's defaults until they are changed", () => {
    expect(valueOf(over({}), option('optimizer.learningRate', 'adam'))).toBe(0.01);
    expect(valueOf(over({ members: 8 }), option('members'))).toBe(8);
  });

  it('are no overrides if they equal the default', () => {
    expect(withValue(over({}), option('members'), 8)).toEqual({ members: 8 });
    expect(withValue(over({ members: 8 }), option('members'), 2)).toEqual({});
    expect(withValue(over({ earlyStopping: { patience: 5 } }), option('earlyStopping.patience'), 20)).toEqual({});
  });

  it("take the defaults of a newly chosen kind, not the project's defaults for another kind", () => {
    const sgd = withValue(over({ optimizer: { learningRate: 0.5 } }), option('optimizer.kind'), 'sgd');
    expect(sgd).toEqual({ optimizer: { kind: 'sgd' } });
    expect(isVisible(over(sgd), option('optimizer.momentum'))).toBe(true);
    expect(isVisible(over({}), option('optimizer.momentum'))).toBe(false);
    const momentum = withValue(over(sgd), option('optimizer.momentum'), 0.9);
    expect(momentum).toEqual({ optimizer: { kind: 'sgd', momentum: 0.9 } });
    expect(withValue(over(momentum), option('optimizer.momentum'), 0)).toEqual(sgd);
    expect(isChanged(over(sgd), option('optimizer.learningRate', 'sgd'))).toBe(false);
    expect(withValue(over(momentum), option('optimizer.kind'), 'adam')).toEqual({});
  });

  it('of an earlier run are the overrides that give its configuration', () => {
    const config = runConfigSchema.parse({ members: 5, optimizer: { kind: 'sgd', momentum: 0.9 }, maxEpochs: 10 });
    expect(overridesFrom(options, defaults, { ...config })).toEqual({
      members: 5,
      optimizer: { kind: 'sgd', momentum: 0.9 },
      earlyStopping: { enabled: false },
    });
  });
});

describe('sections of the form', () => {
  it('hold every option of the schema once, except the record of hyperparameters', () => {
    const shown = formSections(options).flatMap((section) => section.options);
    expect(new Set(shown)).toEqual(new Set(options.filter(({ path }) => path !== 'hyperparameters')));
    expect(shown).toHaveLength(options.length - 1);
    expect(formSections(options).some(({ id }) => id === 'other')).toBe(false);
  });

  it('begin with the hyperparameters of the project and what most runs set; each option is in one of them', () => {
    const own = { ...option('members'), path: 'hyperparameters.units' };
    const sections = formSections([...options, own]);
    expect(sections.slice(0, 2).map(({ id, isAdvanced }) => [id, isAdvanced])).toEqual([
      ['hyperparameters', false],
      ['essentials', false],
    ]);
    expect(sections.slice(2).every(({ isAdvanced }) => isAdvanced)).toBe(true);
    const paths = sections[1].options.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['members', 'devices', 'optimizer.learningRate', 'seed']));
    const strategy = sections.find(({ id }) => id === 'strategy')?.options.map(({ path }) => path);
    expect(strategy).not.toContain('strategy.kind');
  });

  it('are searched by name, path and help, with all words', () => {
    const found = (search: string) =>
      sectionsMatching(formSections(options), search).flatMap((section) => section.options.map(({ path }) => path));
    expect(found('log every')).toEqual(['logEverySteps']);
    expect(found('LOG  STEPS every')).toEqual(['logEverySteps']);
    expect(found('quantum')).toEqual([]);
    expect(found(' ')).toHaveLength(options.length - 1);
  });

  it('include a section for unknown options', () => {
    const unknown = { ...option('members'), path: 'novelty' };
    expect(formSections([unknown])).toMatchObject([{ id: 'other', options: [unknown] }]);
  });
});

const cpu = (index: number): Device => ({
  id: `cpu:${index}`,
  kind: 'cpu',
  index,
  name: 'core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
});
const gpu: Device = { ...cpu(0), id: 'cuda:0', kind: 'cuda' };

describe('devices', () => {
  it('have the same names as in the terminal', () => {
    const devices = [gpu, cpu(0), cpu(1)];
    expect([...namedDevices('cpu:0,1', devices)]).toEqual(['cpu:0', 'cpu:1']);
    expect([...namedDevices('0,', devices)]).toEqual(['cuda:0']);
    expect([...namedDevices([0], [cpu(0)])]).toEqual(['cpu:0']);
    expect([...namedDevices('2', devices)]).toEqual([]);
  });

  it('that emulate WebGPU on the CPU do not count as GPUs, and are used only by name', () => {
    const software: Device = { ...cpu(0), id: 'webgpu-cpu:0', kind: 'webgpu-cpu' };
    const devices = [software, cpu(0)];
    expect([...namedDevices('webgpu-cpu:0', devices)]).toEqual(['webgpu-cpu:0']);
    expect([...namedDevices('0,', devices)]).toEqual(['cpu:0']);
    expect(whyNoDevices('gpu', devices)).toBe('No GPU was found. The Health page shows what is missing.');
    expect(whyNoDevices('gpu', [gpu, ...devices])).toBeNull();
  });

  it('are selected and cleared, all of one kind', () => {
    const devices = [gpu, cpu(0), cpu(1)];
    expect(toggleDevice('auto', cpu(1), devices)).toBe('cpu:1');
    expect(toggleDevice('cpu:1', cpu(0), devices)).toBe('cpu:0,1');
    expect(toggleDevice('cpu:0,1', gpu, devices)).toBe('cuda:0');
    expect(toggleDevice('cpu:1', cpu(1), devices)).toBeNull();
  });

  it('are planned by device and wave', () => {
    const plan = [0, 1, 2, 3].map((rank) => ({ rank, wave: rank < 2 ? 0 : 1, device: cpu(rank % 2) }));
    expect(plannedDevices(plan)).toEqual([
      {
        device: cpu(0),
        threads: 1,
        waves: [
          { wave: 0, workers: [[0]] },
          { wave: 1, workers: [[2]] },
        ],
      },
      {
        device: cpu(1),
        threads: 1,
        waves: [
          { wave: 0, workers: [[1]] },
          { wave: 1, workers: [[3]] },
        ],
      },
    ]);
  });

  it('group the ranks of one worker in the plan', () => {
    const plan = [0, 1, 2].map((rank) => ({ rank, wave: 0, device: cpu(0), stack: Math.floor(rank / 2) }));
    expect(plannedDevices(plan)).toEqual([
      { device: cpu(0), threads: 1, waves: [{ wave: 0, workers: [[0, 1], [2]] }] },
    ]);
    const threaded = plan.map((place) => ({ ...place, threads: 3 }));
    expect(plannedDevices(threaded).map(({ threads }) => threads)).toEqual([3]);
  });
});

describe('the reason why a setting has no effect is given', () => {
  const context = (values: PlainObject) => ({ value: (path: string) => values[path], devices: [], plannedDevices: 2 });

  it('for options', () => {
    expect(whyIdle(option('earlyStopping.patience'), context({ 'earlyStopping.enabled': false }))).toContain('off');
    expect(whyIdle(option('earlyStopping.enabled'), context({ 'earlyStopping.enabled': false }))).toBeNull();
    expect(whyIdle(option('placement'), context({ members: 2 }))).toContain('Every worker has its own device');
    expect(whyIdle(option('placement'), context({ members: 3 }))).toBeNull();
    expect(whyIdle(option('placement'), context({ members: 6, membersPerDevice: 3 }))).toContain(
      'Every worker has its own device',
    );
  });

  it('for choices', () => {
    const joint = { members: 3, 'earlyStopping.enabled': true, 'earlyStopping.joint': true };
    expect(whyUnavailable('placement', 'waves', context(joint))).toContain('Joint early stopping');
    expect(whyUnavailable('placement', 'waves', context({ ...joint, members: 2 }))).toBeNull();
    expect(whyUnavailable('placement', 'share', context(joint))).toBeNull();
  });
});

describe('the URL of the form', () => {
  it('restores the changes, or nothing if it cannot be read', () => {
    const overrides = { optimizer: { kind: 'sgd' } };
    expect(readOverrides(writeOverrides(overrides))).toEqual(overrides);
    expect(writeOverrides({})).toBe('');
    expect(readOverrides('{"optim')).toBeNull();
    expect(readOverrides('[1]')).toBeNull();
  });
});
