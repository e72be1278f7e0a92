import { describe, expect, it } from 'vitest';
import type { Device, Placement } from '../../../protocol/devices.ts';
import { runConfigSchema } from '../../../protocol/run-config.ts';
import { refuseCombinations } from '../../../src-main/runs/combinations.ts';

describe('refuseCombinations', () => {
  const device: Device = {
    id: 'cpu:0',
    kind: 'cpu',
    index: 0,
    name: 'core',
    memoryTotalBytes: null,
    memoryUsedBytes: null,
    load: null,
    processCount: null,
  };
  const planOf = (...waves: number[]): Placement[] => waves.map((wave, rank) => ({ rank, wave, device }));
  const configOf = (earlyStopping: object) => runConfigSchema.parse({ members: 3, earlyStopping });

  it('refuses joint early stopping in waves', () => {
    expect(() => refuseCombinations(configOf({ enabled: true }), planOf(0, 0, 1))).toThrow(
      'Joint early stopping needs all 3 members to train at the same time, but this plan has 2 waves. Use --placement share, ' +
        'fewer members, or --early-stopping.joint false.',
    );
  });

  it("refuses joint early stopping on a member's own metric", () => {
    const config = configOf({ enabled: true, monitor: 'val/member_{rank}_nll' });
    expect(() => refuseCombinations(config, planOf(0, 0, 0))).toThrow(
      'Joint early stopping cannot monitor "val/member_{rank}_nll": that differs from rank to rank.',
    );
  });

  it.each([
    { earlyStopping: { enabled: true }, waves: [0, 0, 0] },
    { earlyStopping: { enabled: true, joint: false, monitor: 'val/member_{rank}_nll' }, waves: [0, 0, 1] },
    { earlyStopping: { enabled: false }, waves: [0, 1, 2] },
  ])('allows $earlyStopping in waves $waves', ({ earlyStopping, waves }) => {
    expect(() => refuseCombinations(configOf(earlyStopping), planOf(...waves))).not.toThrow();
  });
});
