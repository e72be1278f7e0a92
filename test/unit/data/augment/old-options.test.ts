import { expect, it } from 'vitest';
import { withAugmentation } from '../../../../core/protocol/run/data-config.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';

it('crops and flips of the strategy coupled of earlier versions become augmentation', () => {
  const written = { strategy: { kind: 'coupled', couplingWeight: 2, cropPadding: 4, horizontalFlip: true } };
  const config = runConfigSchema.parse(withAugmentation(written));
  expect(config.augmentation).toMatchObject({ cropPadding: 4, horizontalFlip: true, rotation: 0 });
  expect(config.strategy).toEqual({ kind: 'coupled', couplingWeight: 2, unlabelledBatchSize: 128 });
  expect(withAugmentation({ strategy: { cropPadding: 2 } })).toEqual({
    strategy: {},
    augmentation: { cropPadding: 2 },
  });
  expect(withAugmentation({ members: 3 })).toEqual({ members: 3 });
  expect(withAugmentation(undefined)).toBe(undefined);
});
