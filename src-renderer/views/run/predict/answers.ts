import { outsideColumn, type PredictionColumn } from '../../../../core/ensemble/columns.ts';
import { type OutsideScore, outsideScoreNames, type Postprocessing } from '../../../../core/postprocessing/schema.ts';
import { formatValue } from '../../../../core/text/numbers.ts';

/** A number that the ensemble and its members predict for a sample. */
export interface Quantity {
  name: string;
  isProbability: boolean;
  ensemble: number;
  members: { rank: number; value: number }[];
}

/** What the ensemble alone says of a sample, such as its entropy. */
export interface Fact {
  name: string;
  text: string;
}

export interface SampleAnswer {
  quantities: Quantity[];
  /** How many quantities are left out, because they are less probable than those that are shown. */
  hidden: number;
  facts: Fact[];
  isOutside: boolean;
  isWithheld: boolean;
}

const memberColumn = /^([A-Za-z][\w-]*\/)?member_(\d+)_(.+)$/s;
/** A further output of the models, whose columns begin with its name: `distance/mean`. */
const ofOutput = /^([A-Za-z][\w-]*)\/(.+)$/s;
/** Columns whose name ends in that of a class, label or target, which may have a slash too. */
const ofName =
  /^(probability|entropy|mutual_information|mean|standard_deviation|aleatoric|epistemic|lower|upper|quantile)_/;
const probability = 'probability_';
/** More classes or labels than these are left out, the least probable first. */
const shownQuantities = 12;
/** They have their own sentence or table. */
const isJudgement = (name: string): boolean => ['outside_score', 'outside', 'withheld'].includes(name) || isScore(name);
/** The number of the row itself. */
const rowNumber = 'row';
const scoreColumns = new Set(outsideScoreNames.map(outsideColumn));
const isScore = (name: string): boolean => scoreColumns.has(name);

/** The answer in one row of predictions. */
export function answerAt(columns: readonly PredictionColumn[], row: number): SampleAnswer {
  const members = columns.flatMap((column) => memberPart(column, row));
  const own = columns.filter(({ name }) => !memberColumn.test(name));
  const quantities = own.flatMap((column): { output: string | null; quantity: Quantity }[] => {
    const values = members.filter(({ of }) => of === column.name);
    if (column.type !== 'number' || values.length === 0) return [];
    const { output, own: name } = partsOf(column.name);
    const isProbability = name.startsWith(probability);
    const about = { name: titleOf(column.name), isProbability, ensemble: column.values[row] };
    return [{ output, quantity: { ...about, members: values.map(withoutName) } }];
  });
  const shown = outputsOf(own).flatMap((output) => {
    const ofThis = quantities.flatMap((one) => (one.output === output ? one.quantity : []));
    return ofThis.every(({ isProbability }) => isProbability) ? mostProbable(ofThis) : ofThis;
  });
  return {
    quantities: shown,
    hidden: quantities.length - shown.length,
    facts: own
      .filter(({ name }) => name !== rowNumber && !isJudgement(name) && members.every(({ of }) => of !== name))
      .map((column) => ({ name: titleOf(column.name), text: textAt(column, row) }))
      .filter(({ name, text }) => name !== 'warnings' || text !== ''),
    isOutside: isSet(own, 'outside', row),
    isWithheld: isSet(own, 'withheld', row),
  };
}

/**
 * The columns of a table of answers: those of the ensemble, without the probability of each class where there are many.
 */
export function shownColumns(columns: readonly PredictionColumn[]): PredictionColumn[] {
  const own = columns.filter(({ name }) => name !== rowNumber && !memberColumn.test(name) && !isScore(name));
  return own.length <= 2 * shownQuantities ? own : own.filter(({ name }) => !partsOf(name).own.startsWith(probability));
}

/** A value as a cell of a table. */
export function textAt(column: PredictionColumn, row: number): string {
  if (column.type === 'text') return column.values[row];
  if (column.type === 'boolean') return column.values[row] === 1 ? 'yes' : 'no';
  return formatValue(column.values[row]);
}

/**
 * `probability_cat` as `cat`, `mutual_information` as `mutual information`, `distance/mean` as `distance: mean`. The
 * names of classes and targets stay as they are.
 */
export function titleOf(column: string): string {
  const { output, own: name } = partsOf(column);
  if (output !== null) return `${output}: ${titleOf(name)}`;
  if (name.startsWith(probability)) return name.slice(probability.length);
  const known = ['standard_deviation', 'mutual_information', 'outside_score'].find((own) => name.startsWith(own));
  return known === undefined ? name : known.replace('_', ' ') + name.slice(known.length);
}

/**
 * Where values lie between the ends of their scale, as shares: 0 to 1 for probabilities, else from the least to the
 * largest.
 */
export function placesOf({ isProbability, ensemble, members }: Quantity): (value: number) => number {
  const values = [ensemble, ...members.map(({ value }) => value)].filter(Number.isFinite);
  const low = isProbability ? 0 : Math.min(...values);
  const high = isProbability ? 1 : Math.max(...values);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}

/** The sample that a row belongs to: samples with a prediction for each step have several rows, and say which. */
export function sampleOfRow(columns: readonly PredictionColumn[], row: number): number {
  return isStepwise(columns) ? numberAt(columns, 'sample', row) : row;
}

/** The number of a row, from 0: that of the row that was read, unless this has several predictions. */
export function numberOfRow(columns: readonly PredictionColumn[], row: number): number {
  return isStepwise(columns) ? row : numberAt(columns, rowNumber, row);
}

const isStepwise = (columns: readonly PredictionColumn[]): boolean => columns.some(({ name }) => name === 'position');

/** The value of a column; without that column the number of the row. */
function numberAt(columns: readonly PredictionColumn[], wanted: string, row: number): number {
  const column = columns.find(({ name }) => name === wanted);
  return column?.type === 'number' ? column.values[row] : row;
}

function memberPart(column: PredictionColumn, row: number): { of: string; rank: number; value: number }[] {
  const [, output = '', rank, of] = memberColumn.exec(column.name) ?? [];
  if (of === undefined || column.type !== 'number') return [];
  return [{ of: `${output}${of}`, rank: Number(rank), value: column.values[row] }];
}

/** The output of a column, null for the main one, and the column's name without it. */
function partsOf(column: string): { output: string | null; own: string } {
  const [, output = null, own = column] = (ofName.test(column) ? null : ofOutput.exec(column)) ?? [];
  return { output, own };
}

function outputsOf(columns: readonly PredictionColumn[]): (string | null)[] {
  return [...new Set(columns.map(({ name }) => partsOf(name).output))];
}

function withoutName({ rank, value }: { rank: number; value: number }) {
  return { rank, value };
}

/** The quantities that are shown of many, by descending value of the ensemble. */
export function mostProbable(quantities: readonly Quantity[]): Quantity[] {
  return quantities.toSorted((left, right) => right.ensemble - left.ensemble).slice(0, shownQuantities);
}

function isSet(columns: readonly PredictionColumn[], wanted: string, row: number): boolean {
  const column = columns.find(({ name, type }) => name === wanted && type === 'boolean');
  return column?.values[row] === 1;
}

/** Which rows a table of answers lists. */
const rowFilters = [
  { id: 'all', title: 'All', help: 'All rows.' },
  { id: 'answered', title: 'Answered', help: 'Rows that are neither outside the training data nor withheld.' },
  { id: 'outside', title: 'Outside', help: 'Rows that are outside the training data.' },
  { id: 'withheld', title: 'Withheld', help: 'Rows whose confidence is too low for the wished risk.' },
] as const;
export type RowFilter = (typeof rowFilters)[number]['id'];

/** The filters that the columns can tell apart: none where no threshold was fitted. */
export function filtersOf(columns: readonly PredictionColumn[]): (typeof rowFilters)[number][] {
  const judged = (['outside', 'withheld'] as const).filter((name) => flagsOf(columns, name) !== null);
  if (judged.length === 0) return [];
  return rowFilters.filter(({ id }) => id === 'all' || id === 'answered' || judged.includes(id));
}

/** The rows that a filter lists, ascending from 0. */
export function filteredRows(columns: readonly PredictionColumn[], filter: RowFilter): number[] {
  const [outside, withheld] = [flagsOf(columns, 'outside'), flagsOf(columns, 'withheld')];
  const isListed = (row: number): boolean => {
    const [isOutside, isWithheld] = [outside?.[row] === 1, withheld?.[row] === 1];
    switch (filter) {
      case 'all':
        return true;
      case 'answered':
        return !isOutside && !isWithheld;
      case 'outside':
        return isOutside;
      case 'withheld':
        return isWithheld;
    }
  };
  return Array.from({ length: columns[0]?.values.length ?? 0 }, (_, row) => row).filter(isListed);
}

/** A score of how unlike the training data a sample is, beside its threshold. */
export interface ShownScore {
  score: OutsideScore;
  value: number;
  threshold: number;
  isOutside: boolean;
  /** Whether this score decides if the sample counts as outside. */
  decides: boolean;
}

/** The scores of a row that have a threshold; the one that decides comes first. */
export function shownScores(
  columns: readonly PredictionColumn[],
  row: number,
  outside: Postprocessing['outside'],
): ShownScore[] {
  if (outside === null) return [];
  return [outside, ...(outside.others ?? [])].flatMap(({ score, threshold }, place): ShownScore[] => {
    const column = columns.find(({ name, type }) => name === outsideColumn(score) && type === 'number');
    if (column?.type !== 'number') return [];
    const value = column.values[row];
    return [{ score, value, threshold, isOutside: !(value <= threshold), decides: place === 0 }];
  });
}

function flagsOf(columns: readonly PredictionColumn[], wanted: 'outside' | 'withheld'): Uint8Array | null {
  const column = columns.find(({ name, type }) => name === wanted && type === 'boolean');
  return column?.type === 'boolean' ? column.values : null;
}
