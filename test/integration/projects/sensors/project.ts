import {
  createDataset,
  defineProject,
  Generator,
  splitDataset,
  type SymbolicTensor,
  type Tensor,
  tf,
  z,
} from 'tutti-ensembles';

/** sin and cos of x·W, with trained frequencies W: `[B, I]` to `[B, 2·units]`. */
class Waves extends tf.layers.Layer {
  static className = 'Waves';
  readonly units: number;
  #frequencies: ReturnType<Waves['addWeight']> | null = null;

  constructor({ units, ...config }: { units: number; name?: string }) {
    super(config);
    this.units = units;
  }

  override build([, inputs]: number[]): void {
    const initializer = tf.initializers.randomNormal({ stddev: 3 });
    this.#frequencies = this.addWeight('frequencies', [inputs, this.units], 'float32', initializer);
    this.built = true;
  }

  override computeOutputShape([batch]: number[]): number[] {
    return [batch, 2 * this.units];
  }

  override call(inputs: Tensor | Tensor[]): Tensor {
    const [x] = [inputs].flat();
    if (this.#frequencies === null) throw new Error('Waves is built before it is called.');
    const angles = tf.matMul(x, this.#frequencies.read());
    return tf.concat([tf.sin(angles), tf.cos(angles)], -1);
  }

  /** What `new Waves` needs to build the layer again. */
  override getConfig() {
    return { ...super.getConfig(), units: this.units };
  }
}
tf.serialization.registerClass(Waves);

export default defineProject({
  name: 'Sensors',
  description: 'A curve from two sensors, one of which is offset, with a known error of each measurement.',
  task: 'regression',
  hyperparameters: z.object({ units: z.int().min(1).default(8) }),
  defaults: { members: 2, maxEpochs: 20, batchSize: 32, optimizer: { kind: 'adam', learningRate: 0.02 } },

  data({ seed }) {
    const random = new Generator(seed, 'measurements');
    const samples = 600;
    const [features, targets] = [new Float32Array(samples), new Float32Array(samples)];
    const [sensor, error] = [new Float32Array(samples), new Float32Array(samples)];
    for (let sample = 0; sample < samples; sample++) {
      const x = 2 * random.uniform() - 1;
      features[sample] = x;
      sensor[sample] = random.integer(2);
      // Every fourth measurement is bad, and is known to be.
      error[sample] = random.integer(4) === 0 ? 2 : 0.1;
      targets[sample] = Math.sin(3 * x) + sensor[sample] + error[sample] * random.normal();
    }
    const extraInputs = { sensor: { shape: [1], values: sensor }, error: { shape: [1], values: error } };
    const measurements = createDataset({ name: 'measurements', featureShape: [1], features, targets, extraInputs });
    return splitDataset(measurements, { validation: 0.25 }, new Generator(seed, 'split'));
  },

  model({ hyperparameters: { units }, targetSize }) {
    const x = tf.input({ shape: [1] });
    const sensor = tf.input({ shape: [1], name: 'sensor' });
    const waves = new Waves({ units }).apply(x) as SymbolicTensor;
    const both = tf.layers.concatenate().apply([waves, sensor]) as SymbolicTensor;
    return tf.model({
      inputs: [x, sensor],
      outputs: tf.layers.dense({ units: targetSize }).apply(both) as SymbolicTensor,
    });
  },

  /** Mean of ((y − μ) / error)²: what is known to be bad counts little. */
  loss({ outputs: [means], targets, inputs: { error } }) {
    const residuals = tf.sub(tf.reshape(targets, means.shape), means);
    return tf.mean(tf.square(tf.div(residuals, error)));
  },

  metrics: {
    chi2: {
      direction: 'min',
      help: 'Mean squared residual in units of the known error of each measurement: 1 if the prediction is exact.',
      compute({ prediction, targets, dataset: { extraInputs } }) {
        const [means] = prediction.values;
        const errors = extraInputs?.error.values ?? [];
        const squares = Array.from(means, (mean, i) => ((targets[i] - mean) / errors[i]) ** 2);
        return squares.reduce((sum, square) => sum + square, 0) / squares.length;
      },
    },
  },
});
