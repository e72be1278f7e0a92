import { Generator } from '../../../core/random/generator.ts';
import { createDataset, createSplits } from '../dataset.ts';
import type { Dataset, Splits } from '../dataset.ts';

/** Options of `heteroscedasticSine`. */
export interface HeteroscedasticSineOptions {
  /** Number of noisy training points; 20 by default. */
  samples?: number;
  /** Number of noise-free test points, evenly spaced on [-4, 14]; 500 by default. */
  testSamples?: number;
  /** Seed of the points. */
  seed: number;
}

/**
 * Draws `y = x sin(x) + 0.3 e1 + 0.3 x e2` with x ~ U(0, 10) and e1, e2 ~ N(0, 1): noise that grows with x. The test
 * grid extends beyond the training interval on both sides and has no noise. Source: Skafte et al., "Reliable training
 * and estimation of variance networks", 2019, arXiv 1906.03260.
 *
 * @param options - numbers of points, and the seed
 */
export function heteroscedasticSine({ samples = 20, testSamples = 500, seed }: HeteroscedasticSineOptions): Splits {
  checkCount('heteroscedasticSine: samples', samples, 1);
  checkCount('heteroscedasticSine: testSamples', testSamples, 2);
  const generator = new Generator(seed, 'data/heteroscedastic-sine');
  const x = Float32Array.from({ length: samples }, () => 10 * generator.uniform());
  const y = x.map((value) => sine(value) + 0.3 * generator.normal() + 0.3 * value * generator.normal());
  const grid = Float32Array.from({ length: testSamples }, (_, i) => -4 + (18 * i) / (testSamples - 1));
  const name = 'heteroscedastic sine';
  return createSplits({
    train: createDataset({ name, featureShape: [1], features: x, targets: y }),
    test: createDataset({ name: `${name}, noise-free`, featureShape: [1], features: grid, targets: grid.map(sine) }),
  });
}

/** Options of `gaussianBlobs`. */
export interface GaussianBlobsOptions {
  /** Number of samples, of all classes. */
  samples: number;
  /** Number of classes; 3 by default. */
  classes?: number;
  /** Distance of the class centres from the origin; 4 by default. */
  radius?: number;
  /** Standard deviation around a centre, in each direction; 1 by default. */
  spread?: number;
  /** Seed of the points. */
  seed: number;
}

/**
 * Draws points in the plane around class centres that are evenly spaced on a circle. Sample i has class `i % classes`.
 *
 * @param options - numbers of samples and classes, their spread, and the seed
 */
export function gaussianBlobs({ samples, classes = 3, radius = 4, spread = 1, seed }: GaussianBlobsOptions): Dataset {
  checkCount('gaussianBlobs: classes', classes, 1);
  return planar('Gaussian blobs', samples, classes, spread, seed, (label) => {
    const angle = (2 * Math.PI * label) / classes;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
}

/** Options of `twoMoons`. */
export interface TwoMoonsOptions {
  /** Number of samples, of both classes. */
  samples: number;
  /** Standard deviation of the noise, in each direction; 0.1 by default. */
  noise?: number;
  /** Seed of the points. */
  seed: number;
}

/**
 * Draws two interleaved half circles: class 0 at (cos t, sin t), class 1 at (1 - cos t, 0.5 - sin t), with t evenly
 * spaced on [0, pi], plus noise. Sample i has class `i % 2`. The same shape as scikit-learn's `make_moons`.
 *
 * @param options - number of samples, noise, and the seed
 */
export function twoMoons({ samples, noise = 0.1, seed }: TwoMoonsOptions): Dataset {
  return planar('two moons', samples, 2, noise, seed, (label, position) => {
    const angle = Math.PI * position;
    return label === 0 ? [Math.cos(angle), Math.sin(angle)] : [1 - Math.cos(angle), 0.5 - Math.sin(angle)];
  });
}

/** Draws samples of all classes in turn; `position` runs from 0 to 1 over the samples of a class. */
function planar(
  name: string,
  samples: number,
  classes: number,
  deviation: number,
  seed: number,
  centre: (label: number, position: number) => [x: number, y: number],
): Dataset {
  checkCount(`${name}: samples`, samples, classes);
  const generator = new Generator(seed, `data/${name}`);
  const features = new Float32Array(2 * samples);
  for (let i = 0; i < samples; i++) {
    const label = i % classes;
    const samplesOfClass = Math.ceil((samples - label) / classes);
    const [x, y] = centre(label, Math.floor(i / classes) / Math.max(1, samplesOfClass - 1));
    features[2 * i] = x + deviation * generator.normal();
    features[2 * i + 1] = y + deviation * generator.normal();
  }
  const targets = Int32Array.from({ length: samples }, (_, i) => i % classes);
  return createDataset({ name, featureShape: [2], features, targets, classCount: classes });
}

function sine(x: number): number {
  return x * Math.sin(x);
}

function checkCount(what: string, value: number, least: number): void {
  if (!(Number.isInteger(value) && value >= least)) {
    throw new RangeError(`${what} is ${value}; it must be a whole number of at least ${least}.`);
  }
}
