import { orderClasses } from '../../../core/preprocessing/reading.ts';
import type { TargetMeaning } from '../../../core/preprocessing/schema.ts';
import { columnMoments } from '../column-moments.ts';
import type { Dataset } from '../dataset.ts';
import { noteRounding } from '../standardize.ts';
import { type Column, textAt } from './columns.ts';

/** Weights of classes by name, or `balanced`: N / (K · samples of the class), as scikit-learn's `class_weight`. */
export type ClassWeights = 'balanced' | Readonly<Record<string, number>>;

interface TargetOptions {
  targetKind?: 'values' | 'classes' | 'labels';
  standardizeTargets?: boolean;
}

/**
 * What the targets mean: classes are those of the rows of the training split.
 * @throws Error if the columns do not fit the kind
 */
export function fitTarget(
  table: string,
  columns: readonly Column[],
  rows: Int32Array,
  options: TargetOptions,
): TargetMeaning {
  const [first] = columns;
  const kind = options.targetKind ?? (first.type === 'number' || first.type === 'date' ? 'values' : 'classes');
  if (kind === 'classes') {
    if (columns.length > 1) throw new Error(`${table} has ${columns.length} target columns: classes need one.`);
    return { kind, column: first.name, classNames: orderClasses(Array.from(rows, (row) => textAt(first, row))) };
  }
  const moments = columns.map(({ name, values }) => {
    if (!(values instanceof Float64Array)) {
      throw new Error(`Target "${name}" of ${table} is not a column of numbers. Choose targetKind: 'classes'.`);
    }
    // Masked targets have holes.
    const own = Float64Array.from(rows, (row) => values[row]).filter((value) => !Number.isNaN(value));
    if (kind === 'labels') requireLabels(table, name, own);
    if (kind === 'labels' || (own.length === 0 && !options.standardizeTargets)) return { mean: 0, std: 1 };
    const moments = columnMoments({ name: table, kind: `"${name}",`, values: own, count: 1 });
    if (!options.standardizeTargets) {
      noteRounding(table, [name], moments);
      return { mean: 0, std: 1 };
    }
    const { mean, std } = moments;
    return { mean: mean[0], std: std[0] };
  });
  return {
    kind: 'values',
    columns: columns.map(({ name }) => name),
    mean: moments.map(({ mean }) => mean),
    std: moments.map(({ std }) => std),
  };
}

function requireLabels(table: string, name: string, values: Float64Array): void {
  const other = values.find((value) => value !== 0 && value !== 1);
  if (other === undefined) return;
  throw new Error(
    `Target "${name}" of ${table} holds ${other}. A label is 0 or 1, or false or true: choose targetKind: 'values'.`,
  );
}

/** Targets of rows as they are trained with. @throws Error for a class that the training split lacks */
export function targetsOf(name: string, target: TargetMeaning, columns: readonly Column[], rows: Int32Array) {
  if (target.kind === 'classes') {
    const labels = new Map(target.classNames.map((className, label) => [className, label]));
    const targets = Int32Array.from(rows, (row) => {
      const className = textAt(columns[0], row);
      const label = labels.get(className);
      if (label !== undefined) return label;
      throw new Error(
        `${name}: row ${row + 1} has the class ${JSON.stringify(className)}, which the training split lacks. ` +
          'Choose stratify: true, or leave out classes with very few rows; where a column names the splits, give the ' +
          'training split rows of it.',
      );
    });
    return { targets, classNames: target.classNames };
  }
  const targets = new Float32Array(rows.length * columns.length);
  const mask = new Uint8Array(targets.length).fill(1);
  columns.forEach(({ values }, column) => {
    rows.forEach((row, i) => {
      const at = i * columns.length + column;
      const value = (Number(values[row]) - target.mean[column]) / target.std[column];
      if (Number.isNaN(value)) mask[at] = 0;
      else targets[at] = value;
    });
  });
  return mask.includes(0) ? { targets, mask } : { targets };
}

/** The weight of each class, shape `[K]`. @throws Error for a name that is no class, or targets that are values */
export function classWeightsOf({ name, targets, classNames }: Dataset, weights: ClassWeights): number[] {
  if (classNames === undefined) throw new Error(`The targets of ${name} are values: only classes have class weights.`);
  if (weights === 'balanced') {
    const counts = new Float64Array(classNames.length);
    for (const label of targets) counts[label]++;
    return Array.from(counts, (count) => targets.length / (classNames.length * count));
  }
  const unknown = Object.keys(weights).find((className) => !classNames.includes(className));
  if (unknown !== undefined) {
    throw new Error(`${name} has no class ${JSON.stringify(unknown)}: its classes are ${classNames.join(', ')}.`);
  }
  return classNames.map((className) => (Object.hasOwn(weights, className) ? weights[className] : 1));
}
