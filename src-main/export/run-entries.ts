import { createReadStream, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import type { CheckpointKey } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { ASIDE_ENDING, DELETED_ENDING } from '../../core/node/atomic-file.ts';
import { errorCode, explainFileError } from '../../core/node/file-error.ts';
import { type MetricRows, openMetricRows } from '../store/metrics/metric-rows.ts';
import type { ParsedRow } from '../store/metrics/metrics-row.ts';
import { formatHeader, formatNumber, formatRow } from '../store/metrics/metrics-csv.ts';
import { readEvents, runPaths } from '../store/runs/run-folder.ts';
import { checkpointEntries, type SkippedFile } from './checkpoint-entries.ts';
import { layersEntries } from './layers-entries.ts';
import type { ExportEntry } from './sinks.ts';
import { eventFiles } from './tensorboard.ts';

/** The default formats: all that need only the run's folder. */
export const usualFormats = ['record', 'csv', 'jsonl', 'tensorboard', 'checkpoints', 'logs', 'plots'] as const;
/** All formats. `tfjs` rebuilds each checkpoint's model in a process. */
export const EXPORT_FORMATS = [...usualFormats, 'tfjs'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The parts of a run to export. */
interface ExportChoice {
  formats: ReadonlySet<ExportFormat>;
  /** Null for all. */
  checkpoints: readonly CheckpointKey[] | null;
}

const passingEndings = [ASIDE_ENDING, DELETED_ENDING];

/** Yields the files of an export one by one. @param tell called for skipped checkpoints, and with warnings */
export async function* runEntries(
  folder: string,
  record: RunRecord,
  { formats, checkpoints }: ExportChoice,
  tell: { skipped: (file: SkippedFile) => void; warning: (message: string) => void },
): AsyncGenerator<ExportEntry> {
  // A run that has not started has no events yet.
  const recordFiles = ['run.json', 'events.jsonl'].filter((name) => existsSync(join(folder, name)));
  if (formats.has('record')) yield* fileEntries(folder, recordFiles);
  yield* metricEntries(folder, record, formats, tell.warning);
  if (formats.has('checkpoints')) {
    yield* checkpointEntries(folder, checkpoints?.map(basePath) ?? (await basesOfAll(folder)), tell.skipped);
  }
  if (formats.has('tfjs')) yield* layersEntries(folder, record, checkpoints, tell.warning);
  if (formats.has('logs')) yield* fileEntries(folder, await listFiles(folder, 'logs'));
  if (formats.has('plots')) yield* fileEntries(folder, await listFiles(folder, 'plots'));
}

async function* metricEntries(
  folder: string,
  record: RunRecord,
  formats: ReadonlySet<ExportFormat>,
  warn: (message: string) => void,
): AsyncGenerator<ExportEntry> {
  if (!formats.has('csv') && !formats.has('jsonl') && !formats.has('tensorboard')) return;
  const { rows, close } = await openMetricRows(folder);
  try {
    if (formats.has('csv')) {
      yield madeEntry('metrics.csv', () => csvLines(rows));
      // Absent from a run that has not started, and from runs of earlier versions.
      if (existsSync(runPaths(folder).devices)) yield* fileEntries(folder, ['devices.csv']);
    }
    if (formats.has('jsonl')) yield madeEntry('metrics.jsonl', () => jsonLines(rows));
    if (!formats.has('tensorboard')) return;
    const events = await readEvents(folder, ({ message }) => warn(message));
    for (const { path, content } of eventFiles(record, events, rows)) {
      yield madeEntry(`tensorboard/${path}`, content);
    }
  } finally {
    await close();
  }
}

/** Lightning's columns, one row per (epoch, step). */
async function* csvLines(rows: MetricRows): AsyncGenerator<Buffer> {
  yield Buffer.from(formatHeader(rows.columns));
  for await (const portion of rows) {
    const lines = portion.map(({ epoch, step, cells }) =>
      formatRow(
        epoch,
        step,
        cells.map((value) => (value === null ? '' : formatNumber(value))),
      ),
    );
    yield Buffer.from(lines.join(''));
  }
}

/** One object per row, without absent metrics. NaN and infinities are strings. */
async function* jsonLines(rows: MetricRows): AsyncGenerator<Buffer> {
  for await (const portion of rows) {
    yield Buffer.from(portion.map((row) => `${toJson(describeValues(row, rows.columns))}\n`).join(''));
  }
}

function describeValues({ epoch, step, cells }: ParsedRow, metrics: readonly string[]): Record<string, number> {
  const values: Record<string, number> = { epoch, step };
  for (const [column, value] of cells.entries()) if (value !== null) values[metrics[column]] = value;
  return values;
}

function madeEntry(path: string, content: () => AsyncIterable<Buffer>): ExportEntry {
  return { path, compress: true, open: () => Readable.from(content()) };
}

function fileEntries(folder: string, paths: readonly string[]): ExportEntry[] {
  return paths.map((path) => ({ path, compress: true, open: () => Readable.from(readPieces(join(folder, path))) }));
}

/** Reads a file. An error names this file, not the one that is written. */
async function* readPieces(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path);
  } catch (error) {
    throw explainFileError(error, path, 'read');
  }
}

function basePath({ rank, name }: CheckpointKey): string {
  return `checkpoints/rank-${rank}/${name}`;
}

/** The paths, without ending, of all checkpoints that have at least one file. */
async function basesOfAll(folder: string): Promise<string[]> {
  const files = await listFiles(folder, 'checkpoints');
  return [...new Set(files.map((path) => path.replace(/\.(json|safetensors(\.next)?)$/, '')))];
}

/** Files in a subfolder of the run, relative to the run, sorted; none if it does not exist. */
async function listFiles(folder: string, name: 'checkpoints' | 'logs' | 'plots'): Promise<string[]> {
  const root = runPaths(folder)[name];
  try {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !passingEndings.some((ending) => entry.name.endsWith(ending)))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw explainFileError(error, root, 'read');
  }
}
