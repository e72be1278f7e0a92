import { beforeAll } from 'vitest';
import { startBackend } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';
import { describeOpMatrix } from '../describe-op-matrix.ts';

beforeAll(async () => {
  await startBackend('cpu');
  // The setting that suppresses the cpu backend's advertisement also makes tfjs check for leaks in its own fused ops,
  // which have some.
  tf.zeros([1]).dispose();
  tf.env().set('IS_TEST', false);
});

describeOpMatrix('cpu', { share: 0.5 });
