import type { Postprocessing } from '../../postprocessing/schema.ts';
import type { DeviceLoadColumns } from '../machine/devices.ts';
import type { PredictionData, SeriesColumns } from './run-data.ts';
import type { RunRow } from './run-list.ts';
import type { RunView } from './run-views.ts';

/** Everything that the report of a run shows. One frame of `rpc-codec.ts`, so that arrays, NaN and infinities survive. */
export interface ReportData {
  /** When it was written, as in the record of a run. */
  writtenAt: string;
  version: string;
  view: RunView;
  /** The points of all metrics, thinned so that the file stays small. */
  series: SeriesColumns[];
  deviceLoads: DeviceLoadColumns[];
  predictions: { split: 'validation' | 'test'; name: string; epoch: number; data: PredictionData }[];
  postprocessing: Postprocessing[];
  /** The run that this one is a fork of, and its forks. */
  relatives: { origin: RunRow[]; forks: RunRow[] };
}

/** The element of a report that holds its data: base64 of the gzip of one frame. */
export const reportDataId = 'report-data';
