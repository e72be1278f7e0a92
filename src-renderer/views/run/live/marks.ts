import type { RunEvent } from '../../../../protocol/run-record.ts';
import type { RunConfig } from '../../../../protocol/run-config.ts';
import type { ChartBand, ChartEvent, ChartMarker } from '../../../charts/types.ts';
import type { ChartSpec } from './chart-specs.ts';
import { optimumMarker, patienceBand } from './optimum.ts';
import type { LiveLine } from './use-live-charts.ts';

/** Events that change what the curves mean. */
const shownKinds = new Set(['early-stopping', 'non-finite-loss', 'stop-requested', 'failed']);

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
  { earlyStopping }: RunConfig,
  ensembleMonitor: string | null,
  lines: readonly LiveLine[],
): ChartBand[] {
  const { enabled, joint, monitor, mode, patience } = earlyStopping;
  if (!enabled || !joint) return [];
  const watched = monitor === 'auto' ? ensembleMonitor : monitor;
  const line = lines.find(({ spec }) => spec.metric === watched);
  const band = line === undefined ? null : patienceBand(line.columns, mode, patience);
  return band === null ? [] : [band];
}

/** Events that say at which step they happened. */
export function eventsOf(events: readonly RunEvent[], stepsPerEpoch: number | null, startMs: number): ChartEvent[] {
  return events.flatMap(({ kind, step, epoch, time, message }) => {
    if (!shownKinds.has(kind) || step === null) return [];
    const atEpoch = stepsPerEpoch === null ? epoch : step / stepsPerEpoch;
    return [{ x: { step, epoch: atEpoch, time: (Date.parse(time) - startMs) / 1000 }, label: message }];
  });
}
