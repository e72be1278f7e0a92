/** The module behind a project's `import * as tf from '@tensorflow/tfjs'`: see `tf.ts`. */
export * from '@tensorflow/tfjs-core';
export * from '@tensorflow/tfjs-layers';
