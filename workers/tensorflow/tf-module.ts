/** What a project's `import * as tf from '@tensorflow/tfjs'` gets: see `tf.ts`. */
export * from '@tensorflow/tfjs-core';
export * from '@tensorflow/tfjs-layers';
