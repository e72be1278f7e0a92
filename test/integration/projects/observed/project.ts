import {
  defineProject,
  gaussianBlobs,
  Generator,
  type ObservedEvaluation,
  type ProjectCallback,
  splitDataset,
  tf,
  z,
} from 'tutti-ensembles';

/** Blobs, with callbacks that try everything to disturb the training. */
export default defineProject({
  name: 'Observed blobs',
  description: 'Three overlapping classes in the plane, and who looks on.',
  task: 'classification',
  hyperparameters: z.object({ isObserved: z.boolean().default(true) }),
  defaults: { batchSize: 30, logEverySteps: 1, maxEpochs: 3, checkpoints: { monitor: 'val/ens_certainty' } },

  metrics: {
    certainty: {
      direction: 'max',
      compute({ prediction: { values, samples, width } }) {
        const rows = Array.from({ length: samples }, (_, n) => values[0].subarray(n * width, (n + 1) * width));
        return rows.reduce((sum, row) => sum + Math.max(...row), 0) / samples;
      },
    },
  },

  data() {
    const whole = gaussianBlobs({ samples: 150, spread: 2.5, seed: 7 });
    return splitDataset(whole, { validation: 0.2, test: 0.2 }, new Generator(7, 'split'));
  },

  model({ targetSize }) {
    const { dense, dropout } = tf.layers;
    return tf.sequential({
      layers: [dense({ units: 8, inputShape: [2] }), dropout({ rate: 0.2 }), dense({ units: targetSize })],
    });
  },

  callbacks: ({ hyperparameters: { isObserved }, rank }) => (isObserved ? [watcher(rank), failing] : []),
});

function watcher(ownRank: number): ProjectCallback {
  return {
    name: 'watcher',
    onStepEnd({ rank, step, loss, log }) {
      if (rank !== ownRank) throw new Error(`This is the callback of rank ${ownRank}, not of ${rank}.`);
      log('step', step);
      log('loss', loss ?? NaN);
      log('chance', Math.random());
      tf.randomNormal([16]);
    },
    onEpochEnd({ epoch, log, print }) {
      log('epoch', epoch);
      print(`Epoch ${epoch} is over.`);
    },
    onEvaluation(evaluation) {
      evaluation.log('nll', evaluation.metrics.get(`val/member_${evaluation.rank}_nll`) ?? NaN);
      evaluation.log('norm', norm(evaluation));
      for (const values of evaluation.predictions.values) values.fill(0);
      for (const { data } of evaluation.weights().values()) data.fill(0);
    },
  };
}

/** Over the weights of all layers. */
function norm({ weights }: ObservedEvaluation): number {
  const squares = [...weights().values()].map(({ data }) => data.reduce((sum, value) => sum + value * value, 0));
  return Math.sqrt(squares.reduce((sum, value) => sum + value, 0));
}

const failing: ProjectCallback = {
  name: 'failing',
  onStepEnd({ step, log }) {
    log('seen', step);
    if (step === 4) throw new Error('I have seen enough.');
  },
};
