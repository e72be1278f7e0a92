import { beforeAll, describe, expect, it } from 'vitest';
import { startBackend } from '../../../workers/backends/backend.ts';
import { drawModels, exportedCases, largestError } from '../exchange/layer-models.ts';
import { modelFile, runOnnx } from './run-onnx.ts';

beforeAll(() => startBackend('cpu'));

/** Draws of each layer: more in the nightly form. */
const draws = Number(process.env.TUTTI_EXPORT_DRAWS ?? 3);
const seed = Number(process.env.TUTTI_REFERENCE_SEED ?? 14);

describe('layers as ONNX, run by ONNX Runtime, against the float64 reference', () => {
  it.each(exportedCases.map((own) => [own.op, own] as const))('%s', async (_, own) => {
    for (const { model, inputs, expected, about } of drawModels(own, draws, seed)) {
      const feeds = Object.fromEntries(inputs.map((value, i) => [`x${i}`, value]));
      const { y0 } = await runOnnx(modelFile(model), feeds);
      expect(y0.shape, about).toEqual(expected.shape);
      expect(largestError(y0.data, expected.data), about).toBeLessThan(1e-5);
      model.dispose();
    }
  });
});
