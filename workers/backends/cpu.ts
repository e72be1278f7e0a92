import '@tensorflow/tfjs-backend-cpu';
import { tf } from '../tensorflow/tf.ts';
import type { Backend } from './backend.ts';
import { correctPools } from './cpu-pools.ts';
import { correctVolumes } from './volumes.ts';

/** Plain JavaScript: the reference that other backends are held against. It has every op and is slow. */
export async function start(): Promise<Backend> {
  // Or it prints an advertisement for tfjs-node at its first use.
  tf.env().set('IS_TEST', true);
  await tf.setBackend('cpu');
  correctPools();
  correctVolumes('cpu');
  return { kind: 'cpu', description: 'cpu (plain JavaScript reference)', memoryBytes: () => tf.memory().numBytes };
}
