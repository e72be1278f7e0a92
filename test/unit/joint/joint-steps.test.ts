import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { jointForms, lossTolerance, seeds, weightTolerance } from './joint-forms.ts';
import { firstStepsError, laterStepsError } from './joint-in-memory.ts';

const cases = seeds.flatMap((seed) => jointForms.map((form) => ({ seed, ...form })));

describe('ten experts on digits, in one process', () => {
  beforeAll(async () => void (await startBackend('wasm')));

  it.each(cases)("have PyTorch's losses in their first steps: seed $seed, $form", async ({ seed, ...form }) => {
    expect(await firstStepsError(seed, form)).toBeLessThan(lossTolerance);
  });

  it.each(cases)(
    "repeat PyTorch's later steps from PyTorch's weights: seed $seed, $form",
    async ({ seed, ...form }) => {
      const error = await laterStepsError(seed, form);
      expect(error.loss).toBeLessThan(lossTolerance);
      expect(error.weight).toBeLessThan(weightTolerance);
    },
  );
});
