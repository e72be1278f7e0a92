import { describe, expect, it } from 'vitest';
import type { Device } from '../../../core/protocol/machine/devices.ts';
import { type RunConfigInput, runConfigSchema } from '../../../core/protocol/run/config.ts';
import { rankCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { planPlacement } from '../../../src-main/devices/plan.ts';
import { chosenBy, whyNotStacked, whyOneByOne } from '../../../src-main/placement/choose-workers.ts';

const core = (index: number): Device => ({
  id: `cpu:${index}`,
  kind: 'cpu',
  index,
  name: 'A core',
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  load: null,
  processCount: null,
});

function why(change: RunConfigInput, cores = 2): string | null {
  const config = runConfigSchema.parse({ members: 5, ...change });
  const devices = Array.from({ length: cores }, (_, index) => core(index));
  const plan = planPlacement({ ranks: rankCount(config.members), devices, placement: config.placement });
  return whyOneByOne({ config, plan });
}

function times(alone: number, together: number) {
  const measured = [
    { members: 1, stepMs: alone },
    { members: 3, stepMs: together },
  ];
  return { type: 'measured' as const, measured };
}

describe('members that need not be measured', () => {
  it.each([
    ['as many devices as members', {}, 5, /^Each member has a device of its own\.$/],
    [
      'a strategy that exchanges',
      { strategy: { kind: 'joint' } },
      2,
      /^With the strategy joint each rank has a worker/,
    ],
    ['waves', { placement: 'waves' }, 2, /--placement waves trains one on a device at a time\.$/],
    ['a run that goes on without lost members', { onMemberLoss: { kind: 'continue' } }, 2, /without a lost one\.$/],
    ['another backend', { backend: 'webgpu' }, 2, /^On the webgpu backend each member has a worker of its own/],
    ['recomputed activations', { activationCheckpointing: 'layers' }, 2, /^With activation checkpointing/],
    ['limited memory', { memoryLimitBytes: 2 ** 30 }, 2, /the memory of a worker is limited\.$/],
    ['a budget of 0', {}, 2, /TUTTI_MEASURE_SECONDS is 0, so that nothing is measured\.$/],
  ] as const)('%s', (_, change, cores, reason) => {
    expect(why(change, cores)).toMatch(reason);
  });
});

describe('whether members are stacked where workers are chosen by measurement', () => {
  it('does not depend on what decides between one and several in a worker', () => {
    for (const change of [
      {},
      { members: 1 },
      { placement: 'waves' },
      { onMemberLoss: { kind: 'continue' } },
      { memoryLimitBytes: 2 ** 30 },
    ] as const) {
      expect(whyNotStacked(runConfigSchema.parse(change))).toBeNull();
    }
  });
});

describe('the choice', () => {
  it('puts members together where that is clearly faster', () => {
    expect(chosenBy(times(3.3, 1.76), 3)).toEqual({
      members: 3,
      why:
        'Each worker trains all members of its device: measured 1.8 ms for a step of 3 members as one computation, ' +
        '3.3 ms one by one.',
      measured: times(3.3, 1.76).measured,
    });
  });

  it('leaves each member its own worker where the gain is below a tenth', () => {
    expect(chosenBy(times(1.09, 1), 3).members).toBe(1);
    expect(chosenBy(times(1.11, 1), 3).members).toBe(3);
    expect(chosenBy(times(1, 2), 3).why).toMatch(/^Each member has a worker of its own: measured 2 ms for a step of 3/);
  });

  it('says why members are apart where nothing was measured', () => {
    const failed = chosenBy({ type: 'failed', message: 'It was killed.' }, 3);
    expect(failed).toEqual({
      members: 1,
      why: 'Each member has a worker of its own, because steps could not be measured: It was killed.',
    });
    expect(chosenBy({ type: 'apart', why: 'their models differ' }, 3).why).toMatch(/because their models differ\.$/);
  });
});
