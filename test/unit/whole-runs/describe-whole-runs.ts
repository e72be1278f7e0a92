import { beforeAll, describe, expect, it } from 'vitest';
import { type BackendKind, startBackend } from '../../../workers/backends/backend.ts';
import { families, readFamily } from './recorded-runs.ts';
import { tolerance } from './tolerance.ts';
import { errorOf, formsOf, trainRun } from './train-run.ts';

/**
 * A process has one backend, so each backend has its own test file. Slow backends train each run in its first form
 * only, and its first steps.
 */
export function describeWholeRuns(
  backend: BackendKind,
  { mostForms = Infinity, mostSteps = Infinity }: { mostForms?: number; mostSteps?: number } = {},
): void {
  beforeAll(async () => void (await startBackend(backend)));

  describe.each(families)(
    `${Math.min(100, mostSteps)} steps on ${backend} equal those of PyTorch in float64: %s`,
    (family) => {
      const runs = readFamily(family).flatMap((run) =>
        formsOf(family, run)
          .slice(0, mostForms)
          .map((form) => ({ run, form })),
      );
      it.each(runs)('$run.name, $form.name', async ({ run, form }) => {
        const error = errorOf(run, await trainRun(run, form, mostSteps));
        expect(error.loss).toBeLessThan(tolerance(run.float32.loss));
        expect(error.weight).toBeLessThan(tolerance(run.float32.weight));
      });
    },
  );
}
