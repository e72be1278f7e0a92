import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { exportRun } from '../../src-main/export/export-run.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { openEnsemble } from '../../workers/index.ts';
import { largestError } from '../unit/exchange/layer-models.ts';
import { type OnnxInputs, runOnnx } from '../unit/onnx/run-onnx.ts';

type Predict = Awaited<ReturnType<typeof openEnsemble>>['predict'];

/**
 * Exports the last weights of a run as ONNX, and expects the predictions of the opened ensemble from it.
 * @param feeds the file's inputs @param input the same for the opened ensemble
 * @returns the names of the file's outputs
 */
export async function expectSameAsOnnx(
  folder: string,
  feeds: OnnxInputs,
  input: Parameters<Predict>[0],
): Promise<string[]> {
  const to = await mkdtemp(join(tmpdir(), 'tutti-onnx-'));
  try {
    await exportRun(folder, { to, zip: false, formats: ['onnx'], set: 'final' });
    const found = await runOnnx(await readFile(join(to, 'onnx/ensemble.onnx')), feeds);
    await startBackend('cpu');
    const ensemble = await openEnsemble(folder, { set: 'final' });
    const expected = await ensemble.predict(input);
    ensemble.dispose();
    const arrays = expected as unknown as Record<string, ArrayLike<number> | null | undefined>;
    for (const [name, { data }] of Object.entries(found)) {
      const other = arrays[name === 'mutual_information' ? 'mutualInformation' : name];
      // The members' axes are in another order.
      if (name !== 'members') expect(largestError(data, other ?? []), name).toBeLessThan(1e-5);
    }
    return Object.keys(found);
  } finally {
    await rm(to, { recursive: true, force: true });
  }
}
