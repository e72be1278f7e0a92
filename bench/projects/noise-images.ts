import { createDataset, type Dataset, Generator } from 'tutti-ensembles';

/** Noise in the shape of MNIST, to measure the time of a step. */
export function noiseImages(samples: number, seed: number): Dataset {
  const values = new Float32Array(samples * 784);
  new Generator(seed, 'noise').fillUniform(values);
  return createDataset({
    name: 'noise',
    featureShape: [28, 28, 1],
    features: new Uint8Array(values.map((value) => value * 256)),
    targets: Int32Array.from({ length: samples }, (_, i) => i % 10),
    classCount: 10,
  });
}
