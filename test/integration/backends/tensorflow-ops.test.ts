import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { testWindows } from '../../unit/backends/naive/test-windows.ts';
import { setUpTensorflow } from './native-tensorflow.ts';

const obstacle = await setUpTensorflow();
const isLeftOut = obstacle !== null;
const remark = obstacle === null ? '' : ` (not run, as ${obstacle})`;

describe.skipIf(isLeftOut)(`on TensorFlow, values and gradients are those of loops in float64${remark}`, () => {
  beforeAll(async () => void (await startBackend('tensorflow')));

  testWindows({ numRuns: 40, padsExplicitly: false });
});
