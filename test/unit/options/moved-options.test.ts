import { describe, expect, it } from 'vitest';
import { withOptimizerClipping } from '../../../core/protocol/run/optimizer-config.ts';
import { withMovedWarmStart } from '../../../core/protocol/run/schedule-config.ts';

describe('options of earlier versions', () => {
  it('limits of the gradient moved from the strategy to the optimizer', () => {
    const strategy = { kind: 'sharded', accumulate: 2, clipNorm: 0.5 };
    expect(withOptimizerClipping({ strategy, optimizer: { kind: 'sgd' } })).toEqual({
      strategy: { kind: 'sharded', accumulate: 2 },
      optimizer: { kind: 'sgd', clipNorm: 0.5 },
    });
    expect(withOptimizerClipping({ strategy: { kind: 'joint' } })).toEqual({ strategy: { kind: 'joint' } });
  });

  it('the warm start moved from the strategy hdet to all', () => {
    const strategy = { kind: 'hdet', spread: 0.3, warmStart: 'final.safetensors', noise: 0.1 };
    expect(withMovedWarmStart({ strategy })).toEqual({
      strategy: { kind: 'hdet', spread: 0.3 },
      warmStart: { checkpoint: 'final.safetensors', noise: 0.1 },
    });
  });
});
