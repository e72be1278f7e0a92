import { beforeAll, describe } from 'vitest';
import { startBackend } from '../../workers/backends/backend.ts';
import { describeOpMatrix } from '../unit/backends/describe-op-matrix.ts';
import { setUpTensorflow } from './native-tensorflow.ts';

const obstacle = await setUpTensorflow();

describe.skipIf(obstacle !== null)(obstacle === null ? 'ops' : `ops (not run, as ${obstacle})`, () => {
  beforeAll(async () => void (await startBackend('tensorflow')));
  describeOpMatrix('tensorflow', { share: 0.5 });
});
