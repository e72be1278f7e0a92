import { positionsOfRows, predictionColumns, type PredictionColumn } from '../../core/ensemble/columns.ts';
import { allOutsideScores } from '../../core/ensemble/outside-scores.ts';
import type { EnsemblePredictions } from '../../core/ensemble/predictions.ts';
import type { Ensemble } from './ensemble.ts';
import { type InputBlock, readInputs, type TableInputs } from './read-inputs.ts';
import { openWriter, type PredictionFormat } from './writers/write-predictions.ts';

/** A file or folder of samples, and the file for their predictions. */
export interface PredictFileOptions {
  input: string;
  output: string;
  format: PredictionFormat;
  /** Whether each member has columns too. */
  withMembers: boolean;
  /** Whether each score of how unlike the training data a sample is has a column too. */
  withScores?: boolean;
  /** Turns blocks of a table into inputs where the run kept no step for these; null: columns are features. */
  tableInputs?: (() => Promise<TableInputs | null>) | null;
  /** Called with the columns of the first block, its inputs, and the rows that each sample has. */
  firstBlock?: (columns: PredictionColumn[], block: InputBlock, positions: number) => Promise<void>;
  /** Called after each block. @param rows that were written so far */
  progress?: (rows: number) => void;
}

/** Predicts all samples, block by block in their order. Memory holds one block. @returns the number of rows written */
export async function predictFile(ensemble: Ensemble, options: PredictFileOptions): Promise<number> {
  const { input, output, format, withMembers, withScores = false, tableInputs = null, firstBlock, progress } = options;
  const { description, preprocessing } = ensemble;
  const target = preprocessing?.target;
  const targets = target?.kind === 'values' ? target.columns : undefined;
  const writer = await openWriter(output, format);
  let rows = 0;
  for await (const block of readInputs(input, preprocessing, tableInputs)) {
    const stack = await ensemble.outputs(block.input);
    const found = ensemble.combine(stack);
    const scores = withScores ? allOutsideScores(stack, description, ensemble.postprocessing?.outside ?? null) : {};
    const columns = predictionColumns(found, description, { targets, withMembers, scores });
    const positions = positionsOfRows(found);
    const samples = (found.samples / found.positions) * positions;
    const places = placeColumns(block, { samples, positions }, rows / positions);
    if (rows === 0) await firstBlock?.([...places, ...columns], block, positions);
    await writer.write([...places, ...columns]);
    rows += samples;
    progress?.(rows);
  }
  await writer.finish();
  return rows;
}

/** What says which sample a row belongs to, where its order alone does not: the image's file, or sample and position. */
function placeColumns(
  { files }: InputBlock,
  { samples: rows, positions }: Pick<EnsemblePredictions, 'samples' | 'positions'>,
  samplesBefore: number,
): PredictionColumn[] {
  const named: PredictionColumn[] = files === undefined ? [] : [{ name: 'file', type: 'text', values: files }];
  if (positions === 1) return named;
  const each = (value: (row: number) => number) => Float64Array.from({ length: rows }, (_, row) => value(row));
  return [
    { name: 'sample', type: 'number', values: each((row) => samplesBefore + Math.floor(row / positions)) },
    { name: 'position', type: 'number', values: each((row) => row % positions) },
  ];
}
