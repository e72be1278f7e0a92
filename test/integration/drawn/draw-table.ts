import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import type { Row } from '../../../workers/inference/inputs.ts';
import type { DrawnData } from '../projects/drawn/drawn-project.ts';

/** A table as somebody could keep it: what its file says, and what is meant. */
export interface DrawnTable {
  delimiter: ',' | ';' | '\t';
  /** What stands for a missing value, such as -999; the reading of the project names it. */
  missing: string;
  /** Of the columns: absent where the table has none. */
  categories: string[] | null;
  hasFlag: boolean;
  hasDate: boolean;
  hasGaps: boolean;
  hasWeights: boolean;
  isTargetFirst: boolean;
  seed: number;
}

/** Names that read as numbers, as formulas, as missing or as parts of a file. */
export const drawnNames: fc.Arbitrary<string[]> = fc.constantFrom<string[][]>(
  ['1', '2', '10'],
  ['10', '9', '8', '1'],
  ['a', 'b', 'c'],
  ['+', '-'],
  ['=x', '@y', 'z'],
  ['a,b', 'c;d', 'e "f"'],
  ['é', 'ü', 'ß'],
  ['None', 'NA', 'DE'],
  ['true', 'false'],
  ['train', 'car'],
);

export const drawnTable: fc.Arbitrary<DrawnTable> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t'),
  missing: fc.constantFrom('', '-999', 'unknown'),
  categories: fc.option(drawnNames, { nil: null }),
  hasFlag: fc.boolean(),
  hasDate: fc.boolean(),
  hasGaps: fc.boolean(),
  hasWeights: fc.boolean(),
  isTargetFirst: fc.boolean(),
  seed: fc.nat(9999),
});

interface Column {
  name: string;
  texts: string[];
  /** As a row of `openEnsemble` has it. */
  cells: Row[string][];
  isFeature: boolean;
}

/** Whole numbers by a linear congruential generator, so that the file does not depend on the product's. */
function numbers(seed: number): (below: number) => number {
  let state = seed + 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

function columnsOf(
  table: DrawnTable,
  task: TaskKind,
  data: Pick<DrawnData, 'samples' | 'classNames' | 'columns' | 'offset' | 'unit'>,
): Column[] {
  const { samples } = data;
  const draw = numbers(table.seed);
  const column = (name: string, textOf: (i: number) => string, cellOf: (text: string) => Row[string]): Column => {
    const texts = Array.from({ length: samples }, (_, i) => textOf(i));
    return { name, texts, cells: texts.map((text) => (text === table.missing ? null : cellOf(text))), isFeature: true };
  };
  // Some at the beginning are there, so that the column's type shows.
  const gap = (i: number): boolean => table.hasGaps && i % 5 === 4;
  const size = column('size', () => String((draw(4000) - 2000) / 1000), Number);
  const depth = column('depth', (i) => (gap(i) ? table.missing : String(draw(900) / 10)), Number);
  const { categories } = table;
  const kind =
    categories &&
    column(
      'kind',
      (i) => categories[i % categories.length],
      (text) => text,
    );
  const flag = column(
    'flag',
    () => ['true', 'false'][draw(2)],
    (text) => text === 'true',
  );
  const day = column(
    'day',
    () => `2024-0${1 + draw(9)}-1${draw(9)}`,
    (text) => text,
  );
  const weight = { ...column('weight', (i) => String((1 + (i % 3)) / 2), Number), isFeature: false };
  const features = [
    size,
    depth,
    kind,
    table.hasFlag ? flag : null,
    table.hasDate ? day : null,
    table.hasWeights ? weight : null,
  ];
  const targets = targetTexts(task, data, draw).map((texts, i): Column => {
    return { name: `target ${i}`, texts, cells: texts, isFeature: false };
  });
  const others = features.filter((own) => own !== null);
  return table.isTargetFirst ? [...targets, ...others] : [...others, ...targets];
}

function targetTexts(
  task: TaskKind,
  data: Pick<DrawnData, 'samples' | 'classNames' | 'columns' | 'offset' | 'unit'>,
  draw: (below: number) => number,
): string[][] {
  const { samples, classNames, columns, offset, unit } = data;
  if (task === 'classification' || task === 'binary' || task === 'ordinal')
    return [Array.from({ length: samples }, (_, i) => classNames[i % classNames.length])];
  const value = (): number => (task === 'poisson-regression' ? draw(5) : offset + unit * (draw(2000) / 1000 - 1));
  const width = task === 'quantile-regression' ? 1 : columns;
  return Array.from({ length: width }, () => Array.from({ length: samples }, () => String(value())));
}

/** A table in its file, with what the project says about it. */
export interface WrittenTable {
  path: string;
  data: Pick<DrawnData, 'file' | 'reading' | 'table'>;
  /** The features of each row, by the names of the columns. */
  rows: Row[];
  /** The texts of the targets of each row. */
  targets: string[][];
}

const quoted = (text: string, delimiter: string): string =>
  text.includes('"') || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;

/** Writes the table into a folder, from which the project reads it. */
export async function writeTable(
  folder: string,
  name: string,
  table: DrawnTable,
  task: TaskKind,
  data: Pick<DrawnData, 'samples' | 'classNames' | 'columns' | 'offset' | 'unit'>,
): Promise<WrittenTable> {
  const columns = columnsOf(table, task, data);
  const { delimiter, missing } = table;
  const lineOf = (texts: string[]): string => texts.map((text) => quoted(text, delimiter)).join(delimiter);
  const lines = [
    columns.map(({ name }) => name),
    ...columns[0].texts.map((_, i) => columns.map(({ texts }) => texts[i])),
  ];
  const path = join(folder, `${name}.csv`);
  await writeFile(path, `${lines.map(lineOf).join('\n')}\n`);
  const targets = columns.filter(({ name }) => name.startsWith('target'));
  const hasClasses = task === 'classification' || task === 'binary' || task === 'ordinal';
  const types = {
    ...(table.categories && { kind: 'category' as const }),
    ...(hasClasses && { 'target 0': 'category' as const }),
  };
  return {
    path,
    data: {
      file: `${name}.csv`,
      reading: { delimiter, missingValues: [missing], header: true, columns: types },
      table: {
        target: targets.length === 1 ? targets[0].name : targets.map(({ name }) => name),
        missing: 'impute',
        stratify: hasClasses,
        ...(table.hasWeights && { weights: 'weight' }),
      },
    },
    rows: columns[0].texts.map((_, i) =>
      Object.fromEntries(columns.flatMap(({ name, cells, isFeature }) => (isFeature ? [[name, cells[i]]] : []))),
    ),
    targets: columns[0].texts.map((_, i) => targets.map(({ texts }) => texts[i])),
  };
}
