import { describe, expect, it } from 'vitest';
import { parseTarget } from '../../../core/protocol/run/control-state.ts';

describe('what tutti attach follows', () => {
  it.each([
    ['me@login:run-1', { from: 'me@login', run: 'run-1' }],
    ['login.cluster:/scratch/a b/run', { from: 'login.cluster', run: '/scratch/a b/run' }],
    ['me@login:', { from: 'me@login', run: '' }],
  ])('%s', (text, target) => {
    expect(parseTarget(text)).toEqual(target);
  });

  it.each(['run-1', '/runs/a:b', './a:b', String.raw`C:\runs\a`, 'C:/runs'])('%s is a run of this machine', (text) => {
    expect(parseTarget(text)).toBeNull();
  });

  it.each(['-oProxyCommand=touch:x', 'a b:run', '$(x):run', 'a;b:run', '[fe80:run'])('%s is refused', (text) => {
    expect(() => parseTarget(text)).toThrow('is no host as ssh takes it');
  });
});
