import { open, rm } from 'node:fs/promises';
import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import type { PredictTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import { withoutFormula } from '../../core/text/printable.ts';

/** A file of predictions. All blocks have the same columns. */
export interface PredictionWriter {
  write(columns: readonly PredictionColumn[]): Promise<void>;
  /** Resolves once all is on the disk. */
  finish(): Promise<void>;
  /** Removes the file, which an error left unfinished. */
  discard(): Promise<void>;
}

/** How predictions are written. */
export type WriteOptions = Pick<PredictTask, 'format' | 'formulaGuard'>;

/** Creates a file for predictions. */
export async function openWriter(path: string, { format, formulaGuard }: WriteOptions): Promise<PredictionWriter> {
  if (format === 'parquet') return parquetWriter(path);
  return textWriter(path, format === 'csv' ? csvLines(formulaGuard) : jsonLines);
}

async function textWriter(
  path: string,
  bytesOf: (columns: readonly PredictionColumn[]) => Buffer,
): Promise<PredictionWriter> {
  const handle = await open(path, 'w');
  return {
    write: (columns) => handle.appendFile(bytesOf(columns)),
    async finish() {
      await handle.sync();
      await handle.close();
    },
    async discard() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}

function csvLines(guard: WriteOptions['formulaGuard']): (columns: readonly PredictionColumn[]) => Buffer {
  const nameOf = (text: string): string => csvField(guard === 'none' ? text : withoutFormula(text));
  const labelOf = (text: string): string => csvField(guard === 'all' ? withoutFormula(text) : text);
  let isFirst = true;
  return (columns) => {
    const header = isFirst ? `${columns.map(({ name }) => nameOf(name)).join(',')}\n` : '';
    isFirst = false;
    const before = columns.map((_, i) => (i === 0 ? '' : ','));
    const textOf = (text: string, areLabels: boolean): string => (areLabels ? labelOf(text) : nameOf(text));
    const rows = textRows(columns, { before, after: '\n', textOf, nonFiniteOf: (text) => text });
    return header === '' ? rows : Buffer.concat([Buffer.from(header), rows]);
  };
}

function jsonLines(columns: readonly PredictionColumn[]): Buffer {
  const before = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const quoted = (text: string): string => JSON.stringify(text);
  return textRows(columns, { before, after: '}\n', textOf: quoted, nonFiniteOf: quoted });
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function parquetWriter(path: string): Promise<PredictionWriter> {
  const { ParquetWriter, fileWriter } = await import('hyparquet-writer');
  const file = fileWriter(path);
  let writer: InstanceType<typeof ParquetWriter> | null = null;
  return {
    async write(columns) {
      writer ??= new ParquetWriter({
        writer: file,
        schema: [{ name: 'root', num_children: columns.length }, ...columns.map(parquetColumn)],
        createdBy: 'Tutti',
      });
      const columnData = columns.map(({ name, type, values }) => ({
        name,
        data: type === 'boolean' ? Array.from(values, (value) => value === 1) : values,
      }));
      await writer.write({ columnData, rowGroupSize: 100_000 });
    },
    async finish() {
      await writer?.finish();
      const handle = await open(path, 'r+');
      await handle.sync();
      await handle.close();
    },
    // Each block opens the file and closes it.
    discard: () => rm(path, { force: true }),
  };
}

function parquetColumn({ name, type }: PredictionColumn) {
  const about = { name, repetition_type: 'REQUIRED' as const };
  if (type === 'text') return { ...about, type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const };
  return { ...about, type: type === 'boolean' ? ('BOOLEAN' as const) : ('DOUBLE' as const) };
}

/** How rows become text. */
interface RowLayout {
  /** The text in front of each column's value. */
  before: readonly string[];
  /** Behind the last value. */
  after: string;
  /** @param areLabels whether the text is a class or label */
  textOf: (text: string, areLabels: boolean) => string;
  /** What stands for NaN, Infinity and -Infinity, given these as texts. */
  nonFiniteOf: (text: string) => string;
}

/** All rows as UTF-8. Numbers are written as bytes, because making a string of each takes longer than predicting it. */
function textRows(columns: readonly PredictionColumn[], layout: RowLayout): Buffer {
  const rows = columns[0].values.length;
  const cells = columns.map((column) => cellWriter(column, layout));
  const before = layout.before.map((text) => Buffer.from(text));
  const after = Buffer.from(layout.after);
  const fixed = [...before, after].reduce((sum, { length }) => sum + length, 0) * rows;
  const target = Buffer.allocUnsafe(cells.reduce((sum, { mostBytes }) => sum + mostBytes, fixed));
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < cells.length; i++) {
      at = writeBytes(target, at, before[i]);
      at = cells[i].write(target, at, row);
    }
    at = writeBytes(target, at, after);
  }
  return target.subarray(0, at);
}

interface CellWriter {
  /** Bytes of all cells at most. */
  mostBytes: number;
  /** Returns the position behind the cell. */
  write(target: Buffer, at: number, row: number): number;
}

function cellWriter(column: PredictionColumn, { textOf, nonFiniteOf }: RowLayout): CellWriter {
  if (column.type === 'number') return numberWriter(column.values, nonFiniteOf);
  const texts =
    column.type === 'text'
      ? column.values.map((text) => textOf(text, column.areLabels === true))
      : Array.from(column.values, (value) => (value === 1 ? 'true' : 'false'));
  // A unit of UTF-16 takes at most three bytes.
  const mostBytes = texts.reduce((sum, { length }) => sum + 3 * length, 0);
  return { mostBytes, write: (target, at, row) => at + target.write(texts[row], at) };
}

function numberWriter(values: Float64Array | Float32Array, nonFiniteOf: RowLayout['nonFiniteOf']): CellWriter {
  return {
    mostBytes: values.length * Math.max(mostNumberBytes, nonFiniteOf('-Infinity').length),
    write: (target, at, row) => {
      const value = values[row];
      if (Number.isFinite(value)) return writeNumber(target, at, value);
      return at + target.write(nonFiniteOf(String(value)), at);
    },
  };
}

function writeBytes(target: Buffer, at: number, bytes: Buffer): number {
  for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i];
  return at + bytes.length;
}

const [minus, point, zero] = [0x2d, 0x2e, 0x30];
const powersOfTen = Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);
const significantDigits = 9;
/** Values in between are written digit by digit. */
const [least, most] = [1e-6, 10 ** significantDigits];
/**
 * How far a scaled value must be from the middle of two integers, in view of its rounding, for its digits to be
 * certain.
 */
const safeDistance = 1e-5;

/** Bytes that {@link writeNumber} writes at most. */
export const mostNumberBytes = 24;

/** Integers in full, other values with nine significant digits, which tell all float32 values apart. */
function numberText(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(significantDigits)));
}

/** Writes {@link numberText} in a fraction of its time. @returns the position behind it */
export function writeNumber(target: Buffer, at: number, value: number): number {
  const size = Math.abs(value);
  if (!(size >= least && size < most)) return at + target.write(numberText(value), at, 'latin1');
  const integerDigits = digitsBeforePoint(size);
  let decimals = significantDigits - integerDigits;
  const scaled = size * powersOfTen[decimals];
  let digits = Math.round(scaled);
  const isCertain = Math.abs(scaled - Math.floor(scaled) - 0.5) > safeDistance && digits < most;
  if (!isCertain) return at + target.write(numberText(value), at, 'latin1');
  for (let tenth = Math.trunc(digits / 10); decimals > 0 && tenth * 10 === digits; tenth = Math.trunc(digits / 10)) {
    digits = tenth;
    decimals--;
  }
  if (value < 0) target[at++] = minus;
  const whole = decimals > significantDigits ? 0 : Math.trunc(digits / powersOfTen[decimals]);
  const end = writeDigits(target, at, whole, Math.max(1, integerDigits));
  if (decimals === 0) return end;
  target[end] = point;
  return writeDigits(target, end + 1, digits - whole * powersOfTen[decimals], decimals);
}

/** Writes an integer below 2³¹ with exactly `count` digits: such integers divide fastest. */
function writeDigits(target: Buffer, at: number, value: number, count: number): number {
  let rest = value | 0;
  for (let i = at + count - 1; i >= at; i--) {
    const tenth = (rest / 10) | 0;
    target[i] = zero + (rest - tenth * 10);
    rest = tenth;
  }
  return at + count;
}

/** Of 0.01, -1: the zeros behind the point count down. */
function digitsBeforePoint(size: number): number {
  let digits = 0;
  while (digits < significantDigits && size >= powersOfTen[digits]) digits++;
  if (digits > 0) return digits;
  let zeros = 0;
  while (size * powersOfTen[zeros + 1] < 1) zeros++;
  return -zeros;
}
