import { describe, expect, it } from 'vitest';
import { fitClassCalibration } from '../../../core/postprocessing/calibration/fit-calibration.ts';
import { fitLabelCalibration } from '../../../core/postprocessing/fit-labels.ts';
import { Generator } from '../../../core/random/generator.ts';

/** Logits of certain members that share a signal, and classes that follow the signal less surely. */
function drawn(members: number, samples: number, classes: number, sharpness: number) {
  const generator = new Generator(5, 'optima');
  const logits = new Float32Array(members * samples * classes);
  const targets = new Int32Array(samples);
  for (let n = 0; n < samples; n++) {
    const signal = Float64Array.from({ length: classes }, () => 1.5 * generator.normal());
    const noisy = signal.map((own) => own - Math.log(-Math.log(generator.uniform())));
    targets[n] = noisy.indexOf(Math.max(...noisy));
    for (let m = 0; m < members; m++)
      signal.forEach((own, k) => (logits[(m * samples + n) * classes + k] = sharpness * (own + generator.normal())));
  }
  return { stack: { members, samples, classes, logits }, targets };
}

type Drawn = ReturnType<typeof drawn>;

/** log 1/M Σ_m softmax(z_m), shape `[N, K]`, by its definition. */
function logMean({ stack: { members, samples, classes, logits } }: Drawn): number[][] {
  return Array.from({ length: samples }, (_, n) => {
    const rows = Array.from({ length: members }, (_, m) => {
      const own = [...logits.subarray((m * samples + n) * classes, (m * samples + n + 1) * classes)];
      const largest = Math.max(...own);
      const exponentials = own.map((z) => Math.exp(z - largest));
      const sum = exponentials.reduce((a, b) => a + b);
      return exponentials.map((value) => value / sum);
    });
    return rows[0].map((_, k) => Math.log(rows.reduce((sum, row) => sum + row[k], 0) / members));
  });
}

/**
 * The largest of |p_k − [k = y]| times an input, averaged over the samples: entries of the gradient without a penalty.
 */
function residuals(drawn: Drawn, mapped: (logs: number[]) => number[]) {
  return logMean(drawn).map((logs, n) => {
    const z = mapped(logs);
    const largest = Math.max(...z);
    const sum = z.reduce((total, value) => total + Math.exp(value - largest), 0);
    return { logs, own: z.map((value, k) => Math.exp(value - largest) / sum - Number(k === drawn.targets[n])) };
  });
}

describe('where the fits end', () => {
  it.each([
    [2, 500, 10, 5, 0.001],
    [2, 300, 6, 4, 0.01],
    [1, 60, 3, 6, 0.05],
  ])(
    'is the optimum of Dirichlet calibration (M=%i N=%i K=%i sharpness %i λ=%d)',
    (members, samples, classes, ...more) => {
      const [sharpness, regularization] = more;
      const given = drawn(members, samples, classes, sharpness);
      const found = fitClassCalibration('dirichlet', given, regularization);
      if (found.method !== 'dirichlet') throw new Error(found.method);
      const { weights, bias } = found;
      const all = residuals(given, (logs) =>
        bias.map((b, k) => logs.reduce((sum, log, j) => sum + weights[k][j] * log, b)),
      );
      for (let k = 0; k < classes; k++) {
        const ofBias = all.reduce((sum, { own }) => sum + own[k], 0) / samples;
        expect(ofBias + (2 * regularization * bias[k]) / classes).toBeCloseTo(0, 6);
        for (let j = 0; j < classes; j++) {
          const ofWeight = all.reduce((sum, { own, logs }) => sum + own[k] * logs[j], 0) / samples;
          const penalty = j === k ? 0 : (2 * regularization * weights[k][j]) / (classes * (classes - 1));
          expect(ofWeight + penalty, `${k}, ${j}`).toBeCloseTo(0, 6);
        }
      }
    },
  );

  it('is the optimum of vector scaling', () => {
    const given = drawn(2, 400, 12, 6);
    const found = fitClassCalibration('vector', given);
    if (found.method !== 'vector') throw new Error(found.method);
    const { scale, bias } = found;
    const all = residuals(given, (logs) => logs.map((log, k) => scale[k] * log + bias[k]));
    scale.forEach((_, k) => {
      const ofBias = all.reduce((sum, { own }) => sum + own[k], 0) / 400;
      expect(ofBias + 2e-6 * bias[k]).toBeCloseTo(0, 6);
      expect(all.reduce((sum, { own, logs }) => sum + own[k] * logs[k], 0) / 400).toBeCloseTo(0, 6);
    });
  });

  it("is the optimum of Platt's scale and bias", () => {
    const { stack, targets } = drawn(1, 300, 2, 5);
    const samples = {
      kind: 'labels' as const,
      stack: { ...stack, samples: 600, classes: 1 },
      targets: [...targets, ...targets],
    };
    const { scale, bias } = fitLabelCalibration('platt', samples);
    const present = samples.targets.reduce((sum, own) => sum + own, 0);
    const [high, low] = [(present + 1) / (present + 2), 1 / (600 - present + 2)];
    let [ofScale, ofBias] = [0, 0];
    stack.logits.forEach((z, n) => {
      const residual = 1 / (1 + Math.exp(-scale[0] * z - bias[0])) - (samples.targets[n] === 1 ? high : low);
      ofScale += (residual * z) / 600;
      ofBias += residual / 600;
    });
    expect([ofScale, ofBias]).toEqual([expect.closeTo(0, 6), expect.closeTo(0, 6)]);
  });
});
