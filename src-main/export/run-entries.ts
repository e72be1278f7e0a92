import { Readable } from 'node:stream';
import { withoutFormula } from '../../core/text/printable.ts';
import { describeEnsemble } from '../../core/node/describe-ensemble.ts';
import { toJson } from '../../core/protocol/wire/numbers.ts';
import {
  type CheckpointKey,
  type EnsembleFormat,
  ensembleFormats,
  type EnsembleReply,
  type EnsembleTask,
  type LayersReply,
  type LayersTask,
} from '../../core/protocol/run/checkpoint-tasks.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { type MetricRows, openMetricRows } from '../store/metrics/metric-rows.ts';
import type { ParsedRow } from '../store/metrics/metrics-row.ts';
import { formatHeader, formatNumber, formatRow } from '../store/metrics/metrics-csv.ts';
import { isOpen } from '../store/index/recovery.ts';
import { rowsKnownToStates, whyRowsAreLost } from '../store/runs/resume-point.ts';
import { readEvents } from '../store/runs/run-folder.ts';
import { checkpointEntries, type SkippedFile } from './checkpoint-entries.ts';
import { fileEntries, hasOwnFile, listFiles, type Skip, unlessSkipped } from './file-entries.ts';
import type { ExportEntry } from './sinks.ts';
import { eventFiles } from './tensorboard.ts';
import { labelsFile } from '../../core/protocol/run/pool-task.ts';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import { readCheckpointRecords, readFitted } from '../store/runs/checkpoint-records.ts';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { writeEnsembleEntry, writeLayersEntry } from '../processes/node-process.ts';
import { askToWrite, runSource } from './rebuild.ts';

/** The default formats: all that need only the run's folder. */
export const usualFormats = ['record', 'csv', 'jsonl', 'tensorboard', 'checkpoints', 'logs', 'plots'] as const;
/** What the format `run` consists of, besides the files that no other format has. */
const partsOfRun = ['record', 'checkpoints', 'logs', 'plots'] as const;
/**
 * All formats. `tfjs`, `onnx` and `pytorch` rebuild models in a process; `ensemble` is what `openEnsemble` opens; `run`
 * is the whole run, which `tutti import` imports.
 */
export const EXPORT_FORMATS = [...usualFormats, 'run', 'tfjs', 'ensemble', ...ensembleFormats] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The parts of a run to export. */
interface ExportChoice {
  formats: ReadonlySet<ExportFormat>;
  /** Null for all. */
  checkpoints: readonly CheckpointKey[] | null;
  /**
   * The checkpoints of an ensemble (`ensemble`, `onnx`, `pytorch`); by default the first usual ones that all members
   * have.
   */
  set?: string | undefined;
}

interface Tell {
  skipped: Skip;
  warning: (message: string) => void;
}

/** Yields the files of an export one by one. @param tell called for what is not exported, and with warnings */
export async function* runEntries(
  folder: string,
  record: RunRecord,
  { formats: chosen, checkpoints, set }: ExportChoice,
  tell: Tell,
): AsyncGenerator<ExportEntry> {
  const { skipped } = tell;
  const formats = chosen.has('run') ? new Set([...chosen, ...partsOfRun]) : chosen;
  // A run that has not started has no events yet.
  if (formats.has('record')) yield* fileEntries(folder, ['run.json', 'events.jsonl'], skipped);
  yield* metricEntries(folder, record, formats, tell);
  if (formats.has('run')) yield* wholeRunEntries(folder, skipped);
  // Without what the project fitted on its training split, a model cannot be used on raw values.
  if (['checkpoints', 'tfjs', 'ensemble', ...ensembleFormats].some((format) => formats.has(format as ExportFormat)))
    yield* fileEntries(folder, ['preprocessing.json'], skipped);
  const ensemble = formats.has('ensemble') ? await describeEnsemble(folder, set) : null;
  if (ensemble !== null) yield* ensembleEntries(folder, ensemble);
  if (formats.has('checkpoints')) {
    yield* fileEntries(folder, await listFiles(folder, 'postprocessing', skipped), skipped);
    const bases = checkpoints?.map(basePath) ?? (await basesOfAll(folder, skipped));
    const isNew = (base: string) => !ensemble?.members.some(({ weights }) => weights === `${base}.safetensors`);
    yield* checkpointEntries(folder, bases.filter(isNew), skipped);
  }
  if (formats.has('tfjs')) yield* layersEntries(folder, record, checkpoints, tell.warning);
  for (const format of ensembleFormats) {
    if (!formats.has(format)) continue;
    const described = ensemble ?? (await describeEnsemble(folder, set));
    yield* portableEntries(folder, record, { format, ensemble: described }, tell.warning);
  }
  if (formats.has('logs')) yield* fileEntries(folder, await listFiles(folder, 'logs', skipped), skipped);
  if (formats.has('plots')) yield* fileEntries(folder, await listFiles(folder, 'plots', skipped), skipped);
}

async function* metricEntries(
  folder: string,
  record: RunRecord,
  formats: ReadonlySet<ExportFormat>,
  { skipped, warning }: Tell,
): AsyncGenerator<ExportEntry> {
  if (!formats.has('csv') && !formats.has('jsonl') && !formats.has('tensorboard')) return;
  const metrics = openMetricRows(folder, ({ message }) => warning(message));
  const opened = await unlessSkipped(metrics, skipped);
  if (opened === null) return;
  const { rows, close } = opened;
  const lost = isOpen(record) ? null : whyRowsAreLost(folder, rows.lineCount, await rowsKnownToStates(folder));
  if (lost !== null) warning(lost);
  try {
    // A whole run has the files themselves.
    if (formats.has('csv') && !formats.has('run')) {
      yield madeEntry('metrics.csv', () => csvLines(rows));
      // Absent from a run that has not started.
      yield* fileEntries(folder, ['devices.csv'], skipped, neutralCells);
    }
    if (formats.has('jsonl')) yield madeEntry('metrics.jsonl', () => jsonLines(rows));
    if (!formats.has('tensorboard')) return;
    const hasEvents = await hasOwnFile(folder, 'events.jsonl', skipped);
    const events = hasEvents ? await readEvents(folder, ({ message }) => warning(message)) : [];
    for (const { path, content } of eventFiles(record, events, rows)) {
      yield madeEntry(`tensorboard/${path}`, content);
    }
  } finally {
    await close();
  }
}

/** Lightning's columns, one row per (epoch, step). */
async function* csvLines(rows: MetricRows): AsyncGenerator<Buffer> {
  yield Buffer.from(formatHeader(rows.columns.map(withoutFormula)));
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

/** The lines of a CSV file without formulas. */
async function* neutralCells(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line.split(',').map(withoutFormula).join(',')}\n`;
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

function basePath({ rank, name }: CheckpointKey): string {
  return `checkpoints/rank-${rank}/${name}`;
}

/** The paths, without ending, of all checkpoints that have at least one file. */
async function basesOfAll(folder: string, skip: Skip): Promise<string[]> {
  const files = await listFiles(folder, 'checkpoints', skip);
  return [...new Set(files.map((path) => path.replace(/\.(json|safetensors(\.next)?)$/, '')))];
}

const files = ['metrics.csv', 'devices.csv', 'notes.json', labelsFile];
const folders = ['models', 'state', 'predictions', 'sources', 'origin'] as const;

/**
 * The files of a run that it needs elsewhere and that no other format has, unchanged. What earlier attempts left is not
 * among them.
 */
async function* wholeRunEntries(folder: string, skip: Skip): AsyncGenerator<ExportEntry> {
  yield* fileEntries(folder, files, skip);
  for (const name of folders) yield* fileEntries(folder, await listFiles(folder, name, skip), skip);
}

/**
 * A set of checkpoints as an ensemble that `openEnsemble` opens: `ensemble.json`, the architectures and the weights
 * that it names.
 * @throws Error if a part of it is damaged
 */
async function* ensembleEntries(folder: string, description: EnsembleDescription): AsyncGenerator<ExportEntry> {
  const refuse = ({ path, reason }: SkippedFile): never => {
    throw new Error(`${path} cannot be part of an ensemble: ${reason}. Choose another set.`);
  };
  const bases = description.members.map(({ weights }) => weights.replace(/\.safetensors$/, ''));
  yield* checkpointEntries(folder, bases, refuse);
  yield* fileEntries(
    folder,
    description.members.map(({ model }) => model),
    refuse,
  );
  if (description.postprocessing !== null) {
    const fitted = await readFitted(folder, description.postprocessing);
    const { path } = fitted?.outside?.reference ?? {};
    yield* fileEntries(folder, [description.postprocessing, ...(path === undefined ? [] : [path])], refuse);
  }
  const text = `${JSON.stringify(description, null, 2)}\n`;
  yield { path: 'ensemble.json', compress: true, open: () => Readable.from([text]) };
}

/**
 * An ensemble for programs without Tutti, in a folder named after the format. A process rebuilds the models and writes
 * the files to a temporary folder, which is removed after the export.
 * @param warn called with possible differences from the time when the run trained
 * @throws Error if a checkpoint is missing or damaged, or has a layer that the format lacks
 */
async function* portableEntries(
  folder: string,
  record: RunRecord,
  { format, ensemble }: { format: EnsembleFormat; ensemble: EnsembleDescription },
  warn: (message: string) => void,
): AsyncGenerator<ExportEntry> {
  const into = await mkdtemp(join(tmpdir(), 'tutti-ensemble-'));
  try {
    const { version } = packageJson;
    const task: EnsembleTask = { ...(await runSource(folder, record)), format, ensemble, version, into };
    const subject = `The ensemble of ${ensemble.members.length} members (${format}) could not be written`;
    const { paths, warnings } = await askToWrite<EnsembleReply>(writeEnsembleEntry, task, subject);
    for (const message of warnings) warn(message);
    for (const path of paths) {
      yield { path: `${format}/${path}`, compress: false, open: () => createReadStream(join(into, path)) };
    }
  } finally {
    await rm(into, { recursive: true, force: true });
  }
}

/**
 * Checkpoints as TensorFlow.js layers models, `tfjs/rank-<r>/<name>/model.json` with its `weights.bin`. A process
 * rebuilds the model of each checkpoint and writes it to a temporary folder, which is removed after the export.
 * @param checkpoints null for all
 * @param warn called with possible differences from the time when the run trained
 * @throws Error if a checkpoint is missing or damaged, or needs a project that is gone or does not match
 */
async function* layersEntries(
  folder: string,
  record: RunRecord,
  checkpoints: readonly CheckpointKey[] | null,
  warn: (message: string) => void,
): AsyncGenerator<ExportEntry> {
  const members =
    checkpoints ??
    (await readCheckpointRecords(folder, ({ message }) => warn(message))).map(({ rank, name }) => ({ rank, name }));
  if (members.length === 0) return;
  const aside = await mkdtemp(join(tmpdir(), 'tutti-layers-'));
  try {
    for (const message of await writeLayers(folder, record, members, aside)) warn(message);
    for (const { rank, name } of members) {
      for (const file of ['model.json', 'weights.bin']) {
        const path = `rank-${rank}/${name}/${file}`;
        const compress = file === 'model.json';
        yield { path: `tfjs/${path}`, compress, open: () => createReadStream(join(aside, path)) };
      }
    }
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function writeLayers(
  runFolder: string,
  record: RunRecord,
  members: readonly CheckpointKey[],
  into: string,
): Promise<string[]> {
  const task: LayersTask = { ...(await runSource(runFolder, record)), members: [...members], into };
  const subject = `${members.length} layers models could not be written`;
  return (await askToWrite<LayersReply>(writeLayersEntry, task, subject)).warnings;
}
