import { open } from 'node:fs/promises';
import type { PredictionColumn } from '../../../core/ensemble/columns.ts';
import type { PredictTask } from '../../../core/protocol/run/checkpoint-tasks.ts';
import { withoutFormula } from '../../../core/text/formulas.ts';

/** A file of predictions. All blocks have the same columns. */
export interface PredictionWriter {
  write(columns: readonly PredictionColumn[]): Promise<void>;
  /** Resolves once all is on the disk. */
  finish(): Promise<void>;
}

export type PredictionFormat = PredictTask['format'];

/** Creates a file for predictions. */
export async function openWriter(path: string, format: PredictionFormat): Promise<PredictionWriter> {
  if (format === 'parquet') return parquetWriter(path);
  return textWriter(path, format === 'csv' ? csvLines() : jsonLines);
}

async function textWriter(
  path: string,
  linesOf: (columns: readonly PredictionColumn[]) => string,
): Promise<PredictionWriter> {
  const handle = await open(path, 'w');
  return {
    write: (columns) => handle.appendFile(linesOf(columns)),
    async finish() {
      await handle.sync();
      await handle.close();
    },
  };
}

function csvLines(): (columns: readonly PredictionColumn[]) => string {
  let isFirst = true;
  return (columns) => {
    const header = isFirst ? `${columns.map(({ name }) => csvText(name)).join(',')}\n` : '';
    isFirst = false;
    const cells = columns.map(cellsOf(csvText));
    return header + joinRows(cells, (row) => row.join(','));
  };
}

function jsonLines(columns: readonly PredictionColumn[]): string {
  const keys = columns.map(({ name }) => JSON.stringify(name));
  const cells = columns.map(cellsOf((text) => JSON.stringify(text), '"NaN"'));
  return joinRows(cells, (row) => `{${row.map((cell, i) => `${keys[i]}:${cell}`).join(',')}}`);
}

function joinRows(cells: readonly string[][], join: (row: string[]) => string): string {
  const lines = cells[0].map((_, row) => join(cells.map((column) => column[row])));
  return `${lines.join('\n')}\n`;
}

function cellsOf(textOf: (text: string) => string, notANumber = 'NaN') {
  return (column: PredictionColumn): string[] => {
    switch (column.type) {
      case 'text':
        return column.values.map(textOf);
      case 'boolean':
        return Array.from(column.values, (value) => (value === 1 ? 'true' : 'false'));
      case 'number':
        return Array.from(column.values, (value) => numberText(value, notANumber));
    }
  };
}

/** Nine significant digits tell all float32 values apart. */
function numberText(value: number, notANumber: string): string {
  if (Number.isInteger(value)) return String(value);
  return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : notANumber;
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
  };
}

function parquetColumn({ name, type }: PredictionColumn) {
  const about = { name, repetition_type: 'REQUIRED' as const };
  if (type === 'text') return { ...about, type: 'BYTE_ARRAY' as const, converted_type: 'UTF8' as const };
  return { ...about, type: type === 'boolean' ? ('BOOLEAN' as const) : ('DOUBLE' as const) };
}
