import type { PredictionColumn } from '../../../../core/ensemble/columns.ts';
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

const memberColumn = /^member_(\d+)_(.+)$/s;
const probability = 'probability_';
/** More classes or labels than these are left out, the least probable first. */
const shownQuantities = 12;
/** They have their own sentence. */
const judgements = ['outside', 'withheld'];

/** The answer in one row of predictions. */
export function answerAt(columns: readonly PredictionColumn[], row: number): SampleAnswer {
  const members = columns.flatMap((column) => memberPart(column, row));
  const own = columns.filter(({ name }) => !memberColumn.test(name));
  const quantities = own.flatMap((column): Quantity[] => {
    const { name } = column;
    const values = members.filter(({ of }) => of === name);
    if (column.type !== 'number' || values.length === 0) return [];
    const isProbability = name.startsWith(probability);
    return [{ name: titleOf(name), isProbability, ensemble: column.values[row], members: values.map(withoutName) }];
  });
  const shown = quantities.every(({ isProbability }) => isProbability) ? mostProbable(quantities) : quantities;
  return {
    quantities: shown,
    hidden: quantities.length - shown.length,
    facts: own
      .filter(({ name }) => !judgements.includes(name) && members.every(({ of }) => of !== name))
      .map((column) => ({ name: titleOf(column.name), text: textAt(column, row) })),
    isOutside: isSet(own, 'outside', row),
    isWithheld: isSet(own, 'withheld', row),
  };
}

/** The columns of a table of answers: those of the ensemble, without the probability of each class where there are many. */
export function shownColumns(columns: readonly PredictionColumn[]): PredictionColumn[] {
  const own = columns.filter(({ name }) => !memberColumn.test(name));
  return own.length <= 2 * shownQuantities ? own : own.filter(({ name }) => !name.startsWith(probability));
}

/** A value as a cell of a table. */
export function textAt(column: PredictionColumn, row: number): string {
  if (column.type === 'text') return column.values[row];
  if (column.type === 'boolean') return column.values[row] === 1 ? 'yes' : 'no';
  return formatValue(column.values[row]);
}

/** `probability_cat` as `cat`, `mutual_information` as `mutual information`. The names of classes and targets stay as they are. */
export function titleOf(name: string): string {
  if (name.startsWith(probability)) return name.slice(probability.length);
  const known = ['standard_deviation', 'mutual_information', 'outside_score'].find((own) => name.startsWith(own));
  return known === undefined ? name : known.replace('_', ' ') + name.slice(known.length);
}

/** Where values lie between the ends of their scale, as shares: 0 to 1 for probabilities, else from the least to the largest. */
export function placesOf({ isProbability, ensemble, members }: Quantity): (value: number) => number {
  const values = [ensemble, ...members.map(({ value }) => value)].filter(Number.isFinite);
  const low = isProbability ? 0 : Math.min(...values);
  const high = isProbability ? 1 : Math.max(...values);
  return (value) => (high > low ? (value - low) / (high - low) : 0.5);
}

function memberPart(column: PredictionColumn, row: number): { of: string; rank: number; value: number }[] {
  const [, rank, of] = memberColumn.exec(column.name) ?? [];
  return of === undefined || column.type !== 'number' ? [] : [{ of, rank: Number(rank), value: column.values[row] }];
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
