import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { describeOpMatrix } from '../../unit/backends/describe-op-matrix.ts';
import { describeInnerLayers } from '../../unit/inner-members/describe-inner-layers.ts';
import type { OpSample } from '../../unit/backends/op-matrix/op-case.ts';
import { useTensorflow } from '../../environment/tensorflow.ts';
import { notRun } from '../../environment/reasons.ts';

const obstacle = useTensorflow();

describe.skipIf(obstacle !== null)(`ops${notRun(obstacle)}`, () => {
  beforeAll(async () => void (await startBackend('tensorflow')));
  describeOpMatrix('tensorflow', { share: 0.5, refusal: refuseExplicitPadding });
});

describeInnerLayers('tensorflow', { missing: obstacle });

/** tfjs-node gives TensorFlow no explicit padding. */
function refuseExplicitPadding({ options }: OpSample): RegExp | null {
  const { padding } = (options ?? {}) as { padding?: unknown };
  const isExplicit = Array.isArray(padding) && padding.length === 4 && padding.flat().some((size) => size !== 0);
  return isExplicit ? /TF Backend supports only 'valid' and 'same' padding/ : null;
}
