import type { StackedProbabilities, StackedValues } from '../../../core/metrics/index.ts';

/**
 * Predictions from integer arithmetic, so that other languages build the same bits. The expected values were computed
 * by PyTorch in float64 (2.15: `F.nll_loss(torch.log(p), y)`; 1.13: `argmax`, `std`, `var`,
 * `F.gaussian_nll_loss(full=True)`, `MixtureSameFamily`) and torchmetrics 1.4.0 (accuracy, calibration error).
 */

/** 3 members, 200 samples, 4 classes. */
export function referenceProbabilities(): StackedProbabilities {
  const [members, samples, classes] = [3, 200, 4];
  const values = new Float32Array(members * samples * classes);
  for (let m = 0; m < members; m++) {
    for (let n = 0; n < samples; n++) {
      const parts = Array.from(
        { length: classes },
        (_, k) => ((n * 7919 + m * 104729 + k * 1299709 + m * n * k * 31) % 97) + 1,
      );
      const total = parts.reduce((sum, part) => sum + part);
      values.set(
        parts.map((part) => part / total),
        (m * samples + n) * classes,
      );
    }
  }
  return { members, samples, classes, values };
}

export function referenceLabels(): Int32Array {
  return Int32Array.from({ length: 200 }, (_, n) => (n * 13 + Math.floor(n / 7)) % 4);
}

/** 3 members, 50 samples. */
export function referenceMeans(): StackedValues {
  return stackOf(3, 50, (m, n) => ((n * 7919 + m * 104729) % 97) / 16 - 3);
}

export function referenceVariances(): StackedValues {
  return stackOf(3, 50, (m, n) => (((n * 31 + m * 17) % 23) + 1) / 8);
}

export function referenceTargets(): Float32Array {
  return Float32Array.from({ length: 50 }, (_, n) => ((n * 7919 + n * n) % 97) / 16 - 3);
}

function stackOf(members: number, samples: number, valueOf: (m: number, n: number) => number): StackedValues {
  const values = Float32Array.from({ length: members * samples }, (_, i) =>
    valueOf(Math.floor(i / samples), i % samples),
  );
  return { members, samples, values };
}
