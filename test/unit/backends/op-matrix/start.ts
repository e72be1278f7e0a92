import { startBackend, type BackendKind } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

/** Starts two backends in one process and allows switching between them. */
export async function startBoth(first: BackendKind, second: BackendKind): Promise<void> {
  await startBackend(first);
  await startBackend(second);
  // The setting that suppresses the cpu backend's advertisement also makes tfjs check for leaks in its own fused ops,
  // which have some.
  tf.zeros([1]).dispose();
  tf.env().set('IS_TEST', false);
}
