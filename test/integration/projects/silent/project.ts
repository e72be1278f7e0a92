import { defineProject, gaussianBlobs, tf, z } from 'tutti-ensembles';

/** What lets training go wrong without an error: a last batch of one sample, and members that start with the same weights. */
export default defineProject({
  name: 'Silent',
  description: 'Two classes, of which the training split has one sample more than a batch.',
  task: 'classification',
  hyperparameters: z.object({ seeded: z.boolean().default(false), normalized: z.boolean().default(false) }),
  defaults: { batchSize: 16 },

  data() {
    return { train: gaussianBlobs({ samples: 33, seed: 1 }), validation: gaussianBlobs({ samples: 20, seed: 2 }) };
  },

  model({ hyperparameters: { seeded, normalized }, featureShape, targetSize }) {
    const start = (seed: number) => (seeded ? { kernelInitializer: tf.initializers.glorotUniform({ seed }) } : {});
    return tf.sequential({
      layers: [
        tf.layers.dense({ units: 4, inputShape: [...featureShape], ...start(1) }),
        ...(normalized ? [tf.layers.batchNormalization()] : []),
        tf.layers.dense({ units: targetSize, ...start(2) }),
      ],
    });
  },
});
