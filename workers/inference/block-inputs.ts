import type { InputPart } from '../../core/ensemble/sample-inputs.ts';
import { rowsOfTable } from '../data/preprocessing/table-cells.ts';
import type { InputBlock } from './read-inputs.ts';
import { rowPart, valuesPart } from './input-parts.ts';

/** The inputs of a block's first samples as a person reads them: rows of the table as it was given, else values. */
export async function blockInputs({ input, table }: InputBlock, count: number): Promise<InputPart[][]> {
  if (table !== undefined) return rowsOfTable(table, count).map((fields) => [rowPart(null, fields)]);
  if (!('values' in input) || input.shape === undefined) return [];
  const { values, shape } = input;
  const size = shape.reduce((product, own) => product * own, 1);
  const samples = Math.min(count, values.length / size);
  return Promise.all(
    Array.from({ length: samples }, async (_, sample) => [
      await valuesPart(null, { shape, values: values.subarray(sample * size, (sample + 1) * size) }),
    ]),
  );
}
