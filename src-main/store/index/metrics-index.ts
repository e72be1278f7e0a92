import { hash } from 'node:crypto';
import { readFully } from '../../../core/node/read-lines.ts';
import { z } from 'zod';
import { decodeRpc, encodeRpc } from '../../../core/protocol/pages/rpc.ts';
import { errorCode, unlessMissing } from '../../../core/node/file-error.ts';
import { openOwnFile, readOwnBytes } from '../../../core/node/own-files.ts';
import { writeOwnFile } from '../../../core/node/own-folders.ts';
import { MetricColumn, type RunColumns } from '../metrics/metric-column.ts';
import type { TailState } from '../metrics/metrics-tail.ts';
import type { DatabaseSync } from 'node:sqlite';

/** Incremented with every change of the format. An index of another version is rebuilt. */
const version = 2;

const count = z.int().min(0);
const arrayOf = <A extends Int32Array | Float64Array>(type: new () => A) => z.instanceof(type);
const columnSchema = z.strictObject({
  name: z.string(),
  total: count,
  blockPoints: z.int().min(1),
  epoch: arrayOf(Int32Array),
  step: arrayOf(Int32Array),
  value: arrayOf(Float64Array),
  ordinal: arrayOf(Int32Array),
});
const indexSchema = z.strictObject({
  version: z.literal(version),
  /** The hash of all that follows, as it is written: a damaged index would draw wrong points. */
  sha256: z.string(),
  header: z.string(),
  rows: count,
  lastRow: z.string(),
  bytes: count,
  blocks: z.array(z.strictObject({ from: count, to: count, firstStep: z.int(), lastStep: z.int() })),
  columns: z.array(columnSchema),
});

/**
 * The contents of `metrics.index`, with which a large run is opened without reading `metrics.csv`. Format:
 * docs/formats.md.
 */
export interface MetricsIndex {
  tail: TailState;
  columns: { name: string; column: MetricColumn }[];
}

/** Writes the index with the points that the columns hold. */
export async function writeMetricsIndex(folder: string, tail: TailState, columns: RunColumns): Promise<void> {
  const content = {
    ...tail,
    columns: columns.names.flatMap((name) => {
      const column = columns.get(name);
      return column === undefined ? [] : [describeColumn(name, column)];
    }),
  };
  await writeOwnFile(folder, 'metrics.index', encodeRpc({ version, sha256: sha256Of(content), ...content }));
}

/** @returns null if no index matches the present `metrics.csv`, which must then be read completely */
export async function readMetricsIndex(folder: string): Promise<MetricsIndex | null> {
  const index = await readIndex(folder);
  if (index === null || !(await describes(index, folder))) return null;
  const { version: _version, sha256, columns, ...tail } = index;
  if (sha256 !== sha256Of({ ...tail, columns })) return null;
  return { tail, columns: columns.map(({ name, ...held }) => ({ name, column: restoreColumn(held) })) };
}

function sha256Of(content: object): string {
  return hash('sha256', encodeRpc(content), 'hex');
}

function describeColumn(name: string, column: MetricColumn): z.input<typeof columnSchema> {
  const { length, total, blockPoints, epoch, step, value, ordinal } = column;
  return {
    name,
    total,
    blockPoints,
    epoch: epoch.subarray(0, length),
    step: step.subarray(0, length),
    value: value.subarray(0, length),
    ordinal: ordinal.subarray(0, length),
  };
}

function restoreColumn(held: Omit<z.output<typeof columnSchema>, 'name'>): MetricColumn {
  return Object.assign(new MetricColumn(), held, { length: held.step.length });
}

/** The index is a cache, so an invalid one counts as missing. */
async function readIndex(folder: string): Promise<z.output<typeof indexSchema> | null> {
  try {
    const parsed = indexSchema.safeParse(decodeRpc(await readOwnBytes(folder, 'metrics.index')));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (errorCode(error) === null || errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Whether `metrics.csv` has the header of the index, and its last row at the same position. */
async function describes({ header, lastRow, bytes }: TailState, folder: string): Promise<boolean> {
  const handle = await unlessMissing(openOwnFile(folder, 'metrics.csv'));
  if (handle === null) return false;
  const holds = async (text: string, at: number): Promise<boolean> => {
    const expected = Buffer.from(text);
    const found = Buffer.alloc(expected.length);
    await readFully(handle, found, at);
    return found.equals(expected);
  };
  try {
    const lastLine = `\n${lastRow}\n`;
    return (await holds(`${header}\n`, 0)) && (await holds(lastLine, bytes - Buffer.byteLength(lastLine)));
  } finally {
    await handle.close();
  }
}

/** The course of the monitored metric of each run that has ended, so that a list need not read its metrics again. */
export class TrendIndex {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** @param stamp changes whenever the run has trained more */
  get(folder: string, stamp: string): Float64Array | null {
    const row = this.#database.prepare('SELECT points FROM trends WHERE folder = ? AND stamp = ?').get(folder, stamp);
    if (!(row?.points instanceof Uint8Array)) return null;
    return new Float64Array(row.points.slice().buffer);
  }

  put(folder: string, stamp: string, points: Float64Array): void {
    this.#database
      .prepare(
        `INSERT INTO trends (folder, stamp, points) VALUES (:folder, :stamp, :points)
        ON CONFLICT (folder) DO UPDATE SET stamp = excluded.stamp, points = excluded.points`,
      )
      .run({ folder, stamp, points: new Uint8Array(points.buffer) });
  }
}
