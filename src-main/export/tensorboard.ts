import type { RunEvent, RunRecord } from '../../core/protocol/run/record.ts';
import type { MetricRows } from '../store/metrics/metric-rows.ts';

/**
 * TensorBoard's event files: TFRecords, each with one `Event` protobuf (tensorboard/compat/proto/event.proto):
 * `{ double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }`, and in summary.proto
 * `Summary { repeated Value value = 1; }`, `Value { string tag = 1; float simple_value = 2; }`.
 */

/** The first record of a file. @param wallTimeSeconds since 1970 */
export function encodeFileVersion(wallTimeSeconds: number): Buffer {
  return frameRecord(Buffer.concat([doubleField(1, wallTimeSeconds), bytesField(3, Buffer.from('brain.Event:2'))]));
}

/** @param wallTimeSeconds since 1970 @param scalars kept as 32-bit floats, as the format has it */
export function encodeScalars(
  wallTimeSeconds: number,
  step: number,
  scalars: readonly (readonly [tag: string, value: number])[],
): Buffer {
  const values = scalars.map(([tag, value]) =>
    bytesField(1, Buffer.concat([bytesField(1, Buffer.from(tag)), floatField(2, value)])),
  );
  return frameRecord(
    Buffer.concat([doubleField(1, wallTimeSeconds), integerField(2, step), bytesField(5, Buffer.concat(values))]),
  );
}

/** TFRecord: length (uint64), masked CRC32C of the length, data, masked CRC32C of the data; little-endian. */
function frameRecord(data: Buffer): Buffer {
  const header = Buffer.alloc(12);
  header.writeBigUInt64LE(BigInt(data.length), 0);
  header.writeUInt32LE(maskedCrc32c(header.subarray(0, 8)), 8);
  const footer = Buffer.alloc(4);
  footer.writeUInt32LE(maskedCrc32c(data));
  return Buffer.concat([header, data, footer]);
}

const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_BYTES = 2;
const WIRE_32_BIT = 5;

function integerField(field: number, value: number): Buffer {
  return Buffer.concat([key(field, WIRE_VARINT), varint(value)]);
}

function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, WIRE_64_BIT), bytes]);
}

function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([key(field, WIRE_32_BIT), bytes]);
}

function bytesField(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([key(field, WIRE_BYTES), varint(bytes.length), bytes]);
}

function key(field: number, wireType: number): Buffer {
  return varint(field * 8 + wireType);
}

/** @param value a non-negative integer */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The Castagnoli polynomial, bits reversed (RFC 3720, section 12.1). */
const POLYNOMIAL = 0x82f63b78;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
  return remainder;
});

/** CRC32C of the bytes (RFC 3720, appendix B.4), as an unsigned number. */
export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffffffff;
  for (const byte of bytes) remainder = TABLE[(remainder ^ byte) & 0xff] ^ (remainder >>> 8);
  return (remainder ^ 0xffffffff) >>> 0;
}

/** As TFRecord stores it: `rotate_right(crc, 15) + 0xa282ead8` (tensorflow/core/lib/hash/crc32c.h). */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** A metric with its place in TensorBoard, which draws the same tag of several runs (subfolders) in one chart. */
interface Series {
  column: number;
  run: string;
  tag: string;
}

/**
 * Splits metrics into one event file for the ensemble and one for each member, so that the curves of ensemble and
 * members share a chart: `val/ens_nll` becomes `val/nll` of `ensemble`, `val/member_3_nll` becomes `val/nll` of
 * `member-3`. All other metrics keep their names, in `ensemble`.
 * @returns paths in `tensorboard/`, and the content of each file, piece by piece
 */
export function eventFiles(
  record: RunRecord,
  events: readonly RunEvent[],
  rows: MetricRows,
): { path: string; content: () => AsyncGenerator<Buffer> }[] {
  const series = placeMetrics(rows.columns);
  const wallTimeMs = wallClock(record, events, rows.lastStep);
  const startSeconds = Date.parse(record.createdAt) / 1000;
  return [...new Set(series.map(({ run }) => run))].sort().map((run) => ({
    path: `${run}/events.out.tfevents.${String(Math.floor(startSeconds)).padStart(10, '0')}.tutti`,
    async *content() {
      const own = series.filter((other) => other.run === run);
      yield encodeFileVersion(startSeconds);
      for await (const portion of rows) {
        const records = portion.flatMap(({ step, cells }) => {
          const scalars = scalarsOf(own, cells);
          return scalars.length === 0 ? [] : [encodeScalars(wallTimeMs(step) / 1000, step, scalars)];
        });
        yield Buffer.concat(records);
      }
    },
  }));
}

function scalarsOf(series: readonly Series[], cells: readonly (number | null)[]): [tag: string, value: number][] {
  return series.flatMap(({ tag, column }) => {
    const value = cells[column];
    return value === null ? [] : [[tag, value]];
  });
}

function placeMetrics(metrics: readonly string[]): Series[] {
  const names = new Set(metrics);
  return metrics.map((metric, column) => ({ column, ...placeMetric(metric, names) }));
}

function placeMetric(metric: string, names: ReadonlySet<string>): { run: string; tag: string } {
  const member = /^(.*\/)?member_(\d+)_(.+)$/.exec(metric);
  if (member !== null) return { run: `member-${member[2]}`, tag: `${member[1] ?? ''}${member[3]}` };
  const tag = metric.replace(/^(.*\/)?ens_(.+)$/, '$1$2');
  // If another metric already has the short name, two curves would become one.
  return { run: 'ensemble', tag: names.has(tag) ? metric : tag };
}

/**
 * The time of a step, in milliseconds since 1970. The rows have no times, so they are interpolated between the events
 * that have a step, from the run's creation to its end, and never decrease.
 */
function wallClock(record: RunRecord, events: readonly RunEvent[], lastStep: number): (step: number) => number {
  const anchors = [{ step: 0, timeMs: Date.parse(record.createdAt) }];
  const end = record.endedAt === null ? [] : [{ step: lastStep, time: record.endedAt }];
  for (const { step, time } of [...events, ...end]) {
    const { step: earlierStep, timeMs: earlierMs } = anchors[anchors.length - 1];
    const timeMs = Date.parse(time);
    if (step !== null && step > earlierStep && timeMs >= earlierMs) anchors.push({ step, timeMs });
  }
  return (step) => interpolate(anchors, step);
}

function interpolate(anchors: readonly { step: number; timeMs: number }[], step: number): number {
  const after = anchors.findIndex((anchor) => anchor.step >= step);
  if (after === -1) return anchors[anchors.length - 1].timeMs;
  if (after === 0) return anchors[0].timeMs;
  const [from, to] = [anchors[after - 1], anchors[after]];
  return from.timeMs + ((to.timeMs - from.timeMs) * (step - from.step)) / (to.step - from.step);
}
