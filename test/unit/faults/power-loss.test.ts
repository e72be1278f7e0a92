import { afterAll, describe, expect, it } from 'vitest';
import { Generator } from '../../../core/random/generator.ts';
import { cutPower, failCalls, type Faults, type Outcome } from '../../faults/cut-power.ts';
import { operations } from '../../faults/operations.ts';

/** `TUTTI_FAULTS=all` injects every kind of fault into every call. */
const isThorough = process.env.TUTTI_FAULTS === 'all';
const generator = new Generator(12, 'faults');
const faults: Faults = {
  draws: isThorough ? 15 : 4,
  errors: isThorough
    ? [
        { code: 'ENOSPC' },
        { code: 'EIO' },
        { code: 'EDQUOT' },
        { code: 'EINTR' },
        { code: 'ENOSPC', half: true },
        { half: true },
      ]
    : [{ code: 'EIO' }, { code: 'ENOSPC', half: true }],
  random: () => generator.uniform(),
};

const total: Outcome = { calls: 0, powerCuts: 0, errors: 0, old: 0, new: 0 };
afterAll(() => {
  if (isThorough) console.log(JSON.stringify(total));
});

describe.each(operations)('$name', (operation) => {
  const slow = { timeout: isThorough ? 600_000 : 60_000 };

  it('is there as before or as written after a power cut at any call, and can be repeated', slow, async () => {
    await cutPower(operation, faults, total);
    expect(total.powerCuts).toBeGreaterThan(0);
  });

  it('is there as before or as written after any call failed, and can be repeated', slow, async () => {
    await failCalls(operation, faults, total);
    expect(total.errors).toBeGreaterThan(0);
  });
});
