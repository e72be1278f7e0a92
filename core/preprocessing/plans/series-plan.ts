import { quoted } from '../column-findings.ts';
import { outputLines } from './planned-task.ts';
import { type ColumnProfile, heldOutShare, type TableProfile, type TimeProfile } from '../profile.ts';

/** How a series is forecast, one step ahead. */
export interface ForecastPlan {
  /** The columns of which each step has the values: the target, then the others. */
  columns: readonly string[];
  time: string;
  /** The column that tells several series apart; null: there is one. */
  entity: string | null;
  /** Steps that a forecast sees, and their time in words; null: in no usual period. */
  length: number;
  period: string | null;
  /** What steps mean that are longer than usual; null: there are none. */
  gaps: 'cut' | 'ignore' | null;
}

/** Periods that a window may span, in days. */
const periods: readonly [name: string, days: number][] = [
  ['an hour', 1 / 24],
  ['a day', 1],
  ['a week', 7],
  ['four weeks', 28],
  ['a year', 365.25],
];
/** A window has so many steps of a period. */
const [leastSteps, mostSteps] = [10, 100];
/** The length of a window of steps that have no usual period. */
const usualLength = 30;
/** The shortest series has so many windows without a common step. */
const leastWindows = 5;
/** Where gaps are closer than so many windows, too few windows have none. */
const windowsBetweenGaps = 4;

/** Why a target cannot be forecast from windows of a series; null: it can. */
export function whyNoForecast({ time, columns }: TableProfile, target: ColumnProfile): string | null {
  if (time === null || time.series === null) {
    return 'no column holds times in steps that are mostly as long as each other. If there is one, give it the role time';
  }
  if (time.series.doubles > 0) return `rows have the same ${JSON.stringify(time.name)}: remove one of each`;
  const unfit = whyUnfit(target, target.type);
  if (unfit !== null) return `${JSON.stringify(target.name)} ${unfit}`;
  return windowOf(columns, time).length < 2 ? `the series has only ${time.series.fewestSteps} steps` : null;
}

/** Why a column that is read as a type can be no part of a series. */
export function whyUnfit({ missing, misfitCount }: ColumnProfile, type: string): string | null {
  if (type !== 'number' && type !== 'boolean') return 'holds no numbers, of which the steps of a series consist';
  const absent = Object.values(missing).reduce((sum, count) => sum + count, misfitCount);
  return absent === 0 ? null : `has no value in ${absent} ${absent === 1 ? 'row' : 'rows'}, and a series needs all`;
}

/**
 * How a target is forecast.
 * @param columns the target, then the others of which windows consist
 * @throws Error where it cannot be
 */
export function planForecast(
  profile: TableProfile,
  target: ColumnProfile,
  { columns, entity }: Pick<ForecastPlan, 'columns' | 'entity'>,
): ForecastPlan {
  const why = whyNoForecast(profile, target);
  const { time } = profile;
  if (why !== null || time === null || time.series === null) {
    throw new Error(`${JSON.stringify(target.name)} cannot be forecast: ${why}.`);
  }
  const { uneven, areGaps } = time.series;
  const window = windowOf(profile.columns, time);
  const areRare = uneven * windowsBetweenGaps * window.length <= profile.reading.rows;
  const gaps = uneven === 0 ? null : areGaps && areRare ? 'cut' : 'ignore';
  return { columns, entity, time: time.name, gaps, ...window };
}

/** The shortest usual period of which a window has enough steps; numbers that are times have no unit. */
function windowOf(
  columns: TableProfile['columns'],
  { name, series }: TimeProfile,
): Pick<ForecastPlan, 'length' | 'period'> {
  const { step, fewestSteps } = series ?? { step: Number.NaN, fewestSteps: 0 };
  const isDate = columns.some((column) => column.name === name && column.type === 'date');
  const most = Math.floor(fewestSteps / leastWindows);
  for (const [period, days] of isDate ? periods : []) {
    const length = Math.round(days / step);
    if (length >= leastSteps && length <= mostSteps && length <= most) return { length, period };
  }
  return { length: Math.min(usualLength, most), period: null };
}

/** What was decided about a forecast, for people. */
export function forecastDecision({ columns: [target], length, period, entity, gaps }: ForecastPlan): string {
  const crossed = [
    ...(entity === null ? [] : [`from one ${JSON.stringify(entity)} to the next`]),
    ...(gaps === 'cut' ? ['a gap'] : []),
  ];
  const border = crossed.length === 0 ? '' : ` No window crosses ${crossed.join(' or ')}.`;
  const ignored = gaps === 'ignore' ? ' The rows count as the steps, whatever the time between them.' : '';
  return (
    `Forecasts ${JSON.stringify(target)} one step ahead from the last ${length} steps` +
    `${period === null ? '' : ` (${period})`}, because the rows are the steps of a series.${border}${ignored}`
  );
}

/** The model of a forecast, for people. */
export function forecastModelSentence({ length }: ForecastPlan, batchSize: number): string {
  return (
    `Five recurrent networks (LSTM with 16 units) that see the last ${length} steps and give a mean and a variance of ` +
    `the next one; Adam, batches of ${batchSize}, until the NLL of the ensemble no longer falls.`
  );
}

/** A project's code and what it needs besides the plan. */
export interface ForecastSource {
  title: string;
  /** The table beside the project. */
  file: string;
  /** Options of `readTable`. */
  readingLines: readonly string[];
  batchSize: number;
}

const imports = `import { join } from 'node:path';
import {
  defineProject,
  readTable,
  seriesOf,
  standardize,
  type SymbolicTensor,
  tf,
  windowSplits,
  z,
} from 'tutti-ensembles';

`;

const forecastModel = `  model({ hyperparameters: { units }, featureShape, targetSize }) {
    const input = tf.input({ shape: [...featureShape] });
    const state = tf.layers.lstm({ units, recurrentActivation: 'sigmoid' }).apply(input) as SymbolicTensor;
${outputLines('forecast', { hidden: 'state', inputs: 'input' })}  },
`;

/** The code of a project that forecasts a series. */
export function forecastSource(plan: ForecastPlan, { title, file, readingLines, batchSize }: ForecastSource): string {
  const { columns, time, entity, length, gaps } = plan;
  const order = [`time: ${quoted(time)}`, ...(entity === null ? [] : [`entity: ${quoted(entity)}`])].join(', ');
  const windows = `{ ...series, length: steps, targetColumns: [0]${gaps === null ? '' : `, gaps: '${gaps}'`} }`;
  return `${imports}export default defineProject({
  name: ${quoted(title)},
  description: ${quoted(`The next ${columns[0]} from the last steps of ${file}, with its uncertainty.`)},
  task: 'heteroscedastic-regression',
  hyperparameters: z.object({
    steps: z.int().min(1).default(${length}).meta({ help: 'Steps that a forecast sees.' }),
    units: z.int().min(1).default(16).meta({ help: 'Units of the recurrent layer.' }),
  }),
  defaults: {
    members: 5,
    maxEpochs: 200,
    batchSize: ${batchSize},
    optimizer: { kind: 'adam', learningRate: 0.005 },
    earlyStopping: { enabled: true, monitor: 'val/ens_nll', patience: 15 },
  },

  async data({ hyperparameters: { steps } }) {
    const table = await readTable(join(import.meta.dirname, ${quoted(file)}), {
${readingLines.map((line) => `      ${line},`).join('\n')}
    });
    const series = seriesOf(table, [${columns.map(quoted).join(', ')}], { ${order} });
    const splits = windowSplits(
      ${windows},
      { validation: ${heldOutShare}, test: ${heldOutShare} },
    );
    return standardize(splits, { targets: true }).splits;
  },

${forecastModel}});
`;
}
