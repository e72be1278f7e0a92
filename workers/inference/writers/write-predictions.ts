import { open, rm } from 'node:fs/promises';
import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import type { PredictTask } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { withoutFormula } from '../../../core/text/formulas.ts';
import { textRows } from './text-rows.ts';

/** A file of predictions. All blocks have the same columns. */
export interface PredictionWriter {
  write(columns: readonly PredictionColumn[]): Promise<void>;
  /** Resolves once all is on the disk. */
  finish(): Promise<void>;
  /** Removes the file, which an error left unfinished. */
  discard(): Promise<void>;
}

export type PredictionFormat = PredictTask['format'];

/** Creates a file for predictions. */
export async function openWriter(path: string, format: PredictionFormat): Promise<PredictionWriter> {
  if (format === 'parquet') return parquetWriter(path);
  return textWriter(path, format === 'csv' ? csvLines() : jsonLines);
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

function csvLines(): (columns: readonly PredictionColumn[]) => Buffer {
  let isFirst = true;
  return (columns) => {
    const header = isFirst ? `${columns.map(({ name }) => csvText(name)).join(',')}\n` : '';
    isFirst = false;
    const before = columns.map((_, i) => (i === 0 ? '' : ','));
    const rows = textRows(columns, { before, after: '\n', textOf: csvText, nonFiniteOf: (text) => text });
    return header === '' ? rows : Buffer.concat([Buffer.from(header), rows]);
  };
}

function jsonLines(columns: readonly PredictionColumn[]): Buffer {
  const before = columns.map(({ name }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const quoted = (text: string): string => JSON.stringify(text);
  return textRows(columns, { before, after: '}\n', textOf: quoted, nonFiniteOf: quoted });
}

function csvText(text: string): string {
  const plain = withoutFormula(text);
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
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
