import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../workers/backends/backend.ts';
import { describeOpMatrix } from '../unit/backends/describe-op-matrix.ts';
import { setUpTensorflow } from './native-tensorflow.ts';

const obstacle = await setUpTensorflow();

const remark = obstacle === null ? '' : ` (not run, as ${obstacle})`;

describe.skipIf(obstacle !== null)(`ops${remark}`, () => {
  beforeAll(async () => void (await startBackend('tensorflow')));
  describeOpMatrix('tensorflow', { share: 0.5 });
});
