import { modeFor } from '../../../../core/metrics/metric-mode.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import type { ChartBand, ChartMarker } from '../../../charts/types.ts';
import type { ChartSpec } from './charts/chart-specs.ts';
import { optimumMarker, patienceBand } from './charts/optimum.ts';
import type { LiveLine } from './charts/use-live-charts.ts';

/** The optimum of every line. */
export function optimaOf({ best }: ChartSpec, lines: readonly LiveLine[]): ChartMarker[] {
  if (best === null) return [];
  return lines.flatMap(({ spec, columns }) => {
    const marker = optimumMarker({ id: spec.metric, label: spec.label, columns }, best);
    return marker === null ? [] : [marker];
  });
}

/** The patience window, in the chart of the ensemble's metric that a joint early stop watches. */
export function patienceOf(
  { config, changed }: Pick<RunRecord, 'config' | 'changed'>,
  ensembleMonitor: string | null,
  lines: readonly LiveLine[],
): ChartBand[] {
  const { enabled, joint, monitor, mode } = config.earlyStopping;
  const patience = changed?.patience ?? config.earlyStopping.patience;
  if (!enabled || !joint) return [];
  const watched = monitor === 'auto' ? ensembleMonitor : monitor;
  const line = lines.find(({ spec }) => spec.metric === watched);
  const best = watched === null ? null : modeFor(watched, mode);
  const band = line === undefined || best === null ? null : patienceBand(line.columns, best, patience);
  return band === null ? [] : [band];
}
