import { targetNamesOf } from '../../core/preprocessing/schema.ts';
import { positionsOfRows, predictionColumns, type PredictionColumn } from '../../core/ensemble/columns.ts';
import { allOutsideScores } from '../../core/ensemble/outside-scores.ts';
import type { EnsemblePredictions } from '../../core/ensemble/predictions.ts';
import { noteData } from '../data/notes.ts';
import type { Ensemble } from './ensemble.ts';
import { type InputBlock, readInputs, type TableInputs } from './read-inputs.ts';
import { TableLosses } from './table-losses.ts';
import { openWriter, type PredictionWriter, type WriteOptions } from './write-predictions.ts';

/** A file or folder of samples, and the file for their predictions. */
export interface PredictFileOptions extends Pick<WriteOptions, 'format'> {
  input: string;
  output: string;
  /** Which texts of a CSV file are kept from being formulas; those of names and notes by default. */
  formulaGuard?: WriteOptions['formulaGuard'];
  /** Whether each member has columns too. */
  withMembers: boolean;
  /** Whether each score of how unlike the training data a sample is has a column too. */
  withScores?: boolean;
  /** Whether a table with values that do not fit the training data is an error. */
  isStrict?: boolean;
  /** Turns blocks of a table into inputs where the run kept no step for these; null: columns are features. */
  tableInputs?: (() => Promise<TableInputs | null>) | null;
  /** Called with the columns of the first block, its inputs, and the rows that each sample has. */
  firstBlock?: (columns: PredictionColumn[], block: InputBlock, positions: number) => Promise<void>;
  /** Called after each block. @param rows that were written so far */
  progress?: (rows: number) => void;
}

/**
 * Predicts all samples, block by block in their order. Memory holds one block. Notes what of a table does not fit the
 * training data. An error leaves no output.
 * @returns the number of rows written
 * @throws Error with all that does not fit, where that is refused
 */
export async function predictFile(ensemble: Ensemble, options: PredictFileOptions): Promise<number> {
  const { output, format, formulaGuard = 'names' } = options;
  const writer = await openWriter(output, { format, formulaGuard });
  try {
    const rows = await predictBlocks(ensemble, options, writer);
    await writer.finish();
    return rows;
  } catch (error) {
    // The caller reports the first error, not this one.
    await writer.discard().catch(() => undefined);
    throw error;
  }
}

async function predictBlocks(
  ensemble: Ensemble,
  options: PredictFileOptions,
  writer: PredictionWriter,
): Promise<number> {
  const {
    input,
    withMembers,
    withScores = false,
    isStrict = false,
    tableInputs = null,
    firstBlock,
    progress,
  } = options;
  const { description, preprocessing } = ensemble;
  const targets = targetNamesOf(preprocessing);
  const losses = new TableLosses(preprocessing);
  let rows = 0;
  for await (const block of readInputs(input, preprocessing, tableInputs)) {
    const misfits = block.table === undefined ? null : losses.add(block.table);
    const stack = await ensemble.outputs(block.input);
    const found = ensemble.combine(stack);
    const scores = withScores ? allOutsideScores(stack, description, ensemble.postprocessing?.outside ?? null) : {};
    const columns = predictionColumns(found, description, { targets, withMembers, scores });
    const positions = positionsOfRows(found);
    const samples = (found.samples / found.positions) * positions;
    const places = placeColumns(block, { samples, positions }, rows / positions);
    const all = [...places, ...columns, ...warningColumns(misfits, positions)];
    if (rows === 0) await firstBlock?.(all, block, positions);
    await writer.write(all);
    rows += samples;
    progress?.(rows);
  }
  const warnings = losses.sentences();
  if (isStrict) requireFitting(input, warnings);
  for (const warning of warnings) noteData(warning);
  return rows;
}

/** What of each row of a table does not fit the training data; the rows of a sample have the same. */
function warningColumns(misfits: string[] | null, positions: number): PredictionColumn[] {
  if (misfits === null) return [];
  const values = positions === 1 ? misfits : misfits.flatMap((own) => Array.from({ length: positions }, () => own));
  return [{ name: 'warnings', type: 'text', values }];
}

function requireFitting(input: string, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const list = warnings.map((warning) => `\n- ${warning}`).join('');
  throw new Error(`${input} does not fit the training data:${list}\nCorrect it, or predict without --strict.`);
}

/**
 * What says which sample a row belongs to: the row of the input's table, if each is one sample, or the image's file;
 * and sample and position where a sample has several.
 */
function placeColumns(
  { files, table, places = [] }: InputBlock,
  { samples: rows, positions }: Pick<EnsemblePredictions, 'samples' | 'positions'>,
  samplesBefore: number,
): PredictionColumn[] {
  const sampleOf = (row: number): number => Math.floor(row / positions);
  const numbers = (name: string, value: (row: number) => number): PredictionColumn => {
    return { name, type: 'number', values: Float64Array.from({ length: rows }, (_, row) => value(row)) };
  };
  const { rowNumbers } = table ?? {};
  const columns = [...places];
  if (files !== undefined) columns.push({ name: 'file', type: 'text', values: files });
  if (rowNumbers?.length === rows / positions) columns.push(numbers('row', (row) => rowNumbers[sampleOf(row)]));
  if (positions === 1) return columns;
  return [
    ...columns,
    numbers('sample', (row) => samplesBefore + sampleOf(row)),
    numbers('position', (row) => row % positions),
  ];
}
