import { estimate, formatEstimate } from '../../../core/numeric/estimate.ts';
import type { CalibratedSweep } from '../../../core/protocol/pages/json-outputs.ts';
import type { Measured } from '../../../core/postprocessing/measured-schema.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { type Look, plainLook } from '../look.ts';
import { renderTable } from '../table.ts';

/** A run of a sweep that was calibrated. */
export interface CalibratedRun {
  record: Pick<RunRecord, 'id' | 'config'>;
  path: string;
  measured: Measured | null;
}

/**
 * Means with standard errors of the figures of a sweep's runs. A figure that is NaN or infinite is left out, and its
 * run named.
 */
export function summarizeCalibrated(sweep: string, runs: readonly CalibratedRun[]): CalibratedSweep {
  const measured = runs.map(({ record, measured: found }) => ({ seed: record.config.seed, figures: figuresOf(found) }));
  const names = [...new Set(measured.flatMap(({ figures }) => [...figures.keys()]))];
  return {
    sweep,
    runs: runs.map(({ record, path }) => ({ id: record.id, seed: record.config.seed, path })),
    figures: names.map((name) => {
      const own = measured.map(({ seed, figures }) => ({
        seed,
        ...(figures.get(name) ?? { before: null, after: NaN }),
      }));
      const whole = own.filter(
        ({ before, after }) => Number.isFinite(after) && (before === null || Number.isFinite(before)),
      );
      const before = whole.flatMap((figure) => (figure.before === null ? [] : [figure.before]));
      return {
        name,
        before: before.length === 0 ? null : estimate(before),
        after: estimate(whole.map(({ after }) => after)),
        leftOut: own.filter((figure) => !whole.includes(figure)).map(({ seed }) => seed),
      };
    }),
  };
}

export function describeCalibratedSweep({ sweep, runs, figures }: CalibratedSweep, look: Look = plainLook): string[] {
  const columns = ['', 'before', 'after', 'seeds'].map((title, index) => ({ title, right: index > 0 }));
  const rows = figures.map(({ name, before, after }) => [
    name,
    before === null ? '-' : formatEstimate(before),
    formatEstimate(after),
    String(after.count),
  ]);
  const warnings = figures.flatMap(({ name, leftOut }) =>
    leftOut.map((seed) => `warning: seed ${seed} has no finite ${name}: left out.`),
  );
  return [
    `Fitted ${runs.length} runs of the sweep ${sweep}; mean ± standard error (s / √n) over seeds:`,
    '',
    ...renderTable(columns, rows, look),
    ...warnings,
  ];
}

/** What was measured on the other split, by name; `before` is null where nothing changed a figure. */
function figuresOf(measured: Measured | null): Map<string, { before: number | null; after: number }> {
  if (measured === null) return new Map();
  const { calibration, conformal, selective } = measured;
  const fitted = Object.entries(calibration?.after ?? {}).map(
    ([name, after]) => [name, { before: calibration?.before[name] ?? NaN, after }] as const,
  );
  const others = Object.entries({
    ...(conformal === null ? {} : { coverage: conformal.coverage, 'mean size': conformal.meanSize }),
    ...(selective === null ? {} : { AURC: selective.aurc }),
  }).map(([name, after]) => [name, { before: null, after }] as const);
  return new Map<string, { before: number | null; after: number }>([...fitted, ...others]);
}
