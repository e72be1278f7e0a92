import type { OutsideScores } from './outside-scores.ts';
import type { ClassPredictions, EnsemblePredictions, Judgement, ValuePredictions } from './predictions.ts';
import type { Values } from './arithmetic.ts';
import type { EnsembleDescription } from './schema.ts';

/** One column of predictions, with a value for each of N samples. */
export type PredictionColumn =
  | { name: string; type: 'number'; values: Float64Array | Float32Array }
  | {
      name: string;
      type: 'text';
      values: string[];
      /** Whether the texts are classes or labels, which come from the data; absent: names and notes. */
      areLabels?: true;
    }
  | { name: string; type: 'boolean'; values: Uint8Array };

export interface ColumnOptions {
  /** Names of the targets; by default the only one has none, and several are counted. */
  targets?: readonly string[] | undefined;
  /** Whether each member has columns too. */
  withMembers: boolean;
  /** Scores that each have a column: `outside_<score>`. */
  scores?: OutsideScores;
}

/** What of an ensemble names the columns of an output. */
type Naming = Pick<EnsembleDescription, 'classNames' | 'quantiles' | 'members'>;

/**
 * Predictions as the columns of a table. Each kind of prediction always has the same ones, so that blocks of samples
 * fit each other. The columns of a further output have its name: `distance/mean`.
 * @throws Error where outputs have predictions at different numbers of positions
 */
export function predictionColumns(
  found: EnsemblePredictions,
  description: Naming & Pick<EnsembleDescription, 'outputs'>,
  options: ColumnOptions,
): PredictionColumn[] {
  const positions = positionsOfRows(found);
  const { members } = description;
  const { withMembers } = options;
  return [
    ...repeated(outputColumns(found, description, options), positions / found.positions),
    ...description.outputs.flatMap(({ name, ...naming }) => {
      const own = Object.hasOwn(found.further, name) ? found.further[name] : null;
      if (own === null) return [];
      const columns = outputColumns(own, { ...naming, members }, { withMembers });
      return repeated(columns, positions / own.positions).map((column) => ({
        ...column,
        name: `${name}/${column.name}`,
      }));
    }),
  ];
}

/**
 * Rows of each sample: the positions of the outputs that have several.
 * @throws Error where two outputs have different numbers of them
 */
export function positionsOfRows({ positions, further }: EnsemblePredictions): number {
  const several = Object.entries(further).filter(([, own]) => own.positions > 1);
  const rows = positions > 1 ? positions : (several[0]?.[1].positions ?? 1);
  const other = several.find(([, own]) => own.positions !== rows);
  if (other === undefined) return rows;
  throw new Error(
    `The output "${other[0]}" has ${other[1].positions} predictions for each sample, others have ${rows}: they do ` +
      'not fit one table. Predict in code (openEnsemble) instead.',
  );
}

/** Each value several times, one after the other. */
function repeated(columns: readonly PredictionColumn[], times: number): PredictionColumn[] {
  if (times === 1) return [...columns];
  const each =
    <T>(values: ArrayLike<T>) =>
    (_: unknown, row: number) =>
      values[Math.floor(row / times)];
  return columns.map((column) => {
    const length = column.values.length * times;
    switch (column.type) {
      case 'text':
        return { ...column, values: Array.from({ length }, each(column.values)) };
      case 'boolean':
        return { ...column, values: Uint8Array.from({ length }, each(column.values)) };
      case 'number':
        return { ...column, values: Float64Array.from({ length }, each(column.values)) };
    }
  });
}

function outputColumns(found: EnsemblePredictions, description: Naming, options: ColumnOptions): PredictionColumn[] {
  return [
    ...ensembleColumns(found, description, options),
    ...judgementColumns(found.judgement),
    ...scoreColumns(options.scores ?? {}),
    ...(options.withMembers ? memberColumns(found, description, options) : []),
  ];
}

function ensembleColumns(
  found: EnsemblePredictions,
  { classNames, quantiles }: Pick<EnsembleDescription, 'classNames' | 'quantiles'>,
  { targets }: ColumnOptions,
): PredictionColumn[] {
  const { width } = found;
  switch (found.kind) {
    case 'classes':
      return classColumns(found, namesOf(classNames, width));
    case 'labels': {
      const names = namesOf(classNames, width);
      return [
        ...eachColumn(found.mean, names, 'probability'),
        ...eachColumn(found.entropy, names, 'entropy'),
        ...eachColumn(found.mutualInformation, names, 'mutual_information'),
        ...setColumn(found.sets, names),
      ];
    }
    case 'values':
      return valueColumns(found, targetNames(targets, width));
    case 'quantiles': {
      const names = namesOf(quantiles?.map(String) ?? null, width);
      const { mean, epistemic, intervals } = found;
      return [
        ...eachColumn(mean, names, 'quantile'),
        ...eachColumn(epistemic, names, 'epistemic'),
        ...(intervals === null ? [] : [number('lower', intervals.lower), number('upper', intervals.upper)]),
      ];
    }
  }
}

function classColumns(found: ClassPredictions, names: readonly string[]): PredictionColumn[] {
  const { labels, mean, entropy, mutualInformation, sets } = found;
  return [
    { name: 'class', type: 'text', values: Array.from(labels, (label) => names[label]), areLabels: true },
    ...eachColumn(mean, names, 'probability'),
    number('entropy', entropy),
    number('mutual_information', mutualInformation),
    ...setColumn(sets, names),
  ];
}

function valueColumns(found: ValuePredictions, names: readonly (string | null)[]): PredictionColumn[] {
  const { mean, aleatoric, epistemic, standardDeviation, intervals } = found;
  return [
    ...eachColumn(mean, names, 'mean'),
    ...eachColumn(standardDeviation, names, 'standard_deviation'),
    ...(aleatoric === null ? [] : eachColumn(aleatoric, names, 'aleatoric')),
    ...eachColumn(epistemic, names, 'epistemic'),
    ...(intervals === null ? [] : eachColumn(intervals.lower, names, 'lower')),
    ...(intervals === null ? [] : eachColumn(intervals.upper, names, 'upper')),
  ];
}

function judgementColumns(judgement: Judgement | null): PredictionColumn[] {
  if (judgement === null) return [];
  const { outsideScores, isOutside, isWithheld } = judgement;
  return [
    ...(outsideScores === null ? [] : [number('outside_score', outsideScores)]),
    ...(isOutside === null ? [] : [{ name: 'outside', type: 'boolean' as const, values: isOutside }]),
    ...(isWithheld === null ? [] : [{ name: 'withheld', type: 'boolean' as const, values: isWithheld }]),
  ];
}

function scoreColumns(scores: OutsideScores): PredictionColumn[] {
  return Object.entries(scores).map(([score, values]) => number(outsideColumn(score), values));
}

/** The column of a score: `outside_mutual_information`. */
export const outsideColumn = (score: string): string => `outside_${score.replaceAll('-', '_')}`;

function memberColumns(
  found: EnsemblePredictions,
  { classNames, quantiles, members }: Naming,
  { targets }: ColumnOptions,
): PredictionColumn[] {
  const size = found.samples * found.width;
  const part = (values: Values, member: number) => values.subarray(member * size, (member + 1) * size);
  return members.flatMap(({ rank }, member) => {
    const own = part(found.members, member);
    const name = (what: string) => `member_${rank}_${what}`;
    switch (found.kind) {
      case 'classes':
      case 'labels':
        return eachColumn(own, namesOf(classNames, found.width), name('probability'));
      case 'quantiles':
        return eachColumn(own, namesOf(quantiles?.map(String) ?? null, found.width), name('quantile'));
      case 'values': {
        const names = targetNames(targets, found.width);
        const variances = found.memberVariances && part(found.memberVariances, member);
        return [
          ...eachColumn(own, names, name('mean')),
          ...(variances === null ? [] : eachColumn(variances.map(Math.sqrt), names, name('standard_deviation'))),
        ];
      }
    }
  });
}

/** Columns of an array `[N, K]`: `<what>_<name>`, or `<what>` where there is no name. */
function eachColumn(
  values: Float64Array | Float32Array,
  names: readonly (string | null)[],
  what: string,
): PredictionColumn[] {
  const samples = values.length / names.length;
  return names.map((name, k) =>
    number(
      name === null ? what : `${what}_${name}`,
      names.length === 1 ? values : Float64Array.from({ length: samples }, (_, n) => values[n * names.length + k]),
    ),
  );
}

function number(name: string, values: Float64Array | Float32Array): PredictionColumn {
  return { name, type: 'number', values };
}

/** The names that are known, if they are as many; else numbers from 0. */
function namesOf(names: readonly string[] | null, count: number): string[] {
  return Array.from({ length: count }, (_, i) => (names?.length === count ? names[i] : String(i)));
}

function targetNames(targets: readonly string[] | undefined, count: number): (string | null)[] {
  return count === 1 ? [null] : namesOf(targets ?? null, count);
}

function setColumn(sets: Uint8Array | null, names: readonly string[]): PredictionColumn[] {
  return sets === null ? [] : [{ name: 'set', type: 'text', values: setTexts(sets, names), areLabels: true }];
}

/** The names of each sample's set, between bars. */
function setTexts(sets: Uint8Array, names: readonly string[]): string[] {
  return Array.from({ length: sets.length / names.length }, (_, sample) =>
    names.filter((_name, k) => sets[sample * names.length + k] === 1).join('|'),
  );
}
