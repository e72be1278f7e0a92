import { startBackend, type BackendKind } from '../../../../workers/backends/backend.ts';
import { tf } from '../../../../workers/tensorflow/tf.ts';

/** Starts two backends in one process, to be switched between. */
export async function startBoth(first: BackendKind, second: BackendKind): Promise<void> {
  await startBackend(first);
  await startBackend(second);
  // What keeps the cpu backend from advertising at its first use also has tfjs look for leaks in its own fused ops, which have some.
  tf.zeros([1]).dispose();
  tf.env().set('IS_TEST', false);
}
