import { formatCount } from '../text/numbers.ts';
import { keyOf, quoted, uselessKinds } from './column-findings.ts';
import { type ImagePlan, imageProjectSource, planImages } from './image-plan.ts';
import type { ImageProfile } from './image-profile.ts';
import { type ColumnProfile, type Finding, heldOutShare, type TableProfile, type TimeProfile } from './profile.ts';
import { type PlannedTask, taskOf, tasks } from './planned-task.ts';
import { holdsClasses } from './profile-findings.ts';
import {
  forecastDecision,
  forecastModelSentence,
  type ForecastPlan,
  forecastSource,
  planForecast,
  whyNoForecast,
  whyUnfit,
} from './series-plan.ts';

/** What a column of a table is for. */
export const columnRoles = [
  'number',
  'category',
  'boolean',
  'date',
  'ignore',
  'group',
  'time',
  'weights',
  'target',
] as const;
/** Roles of columns from which no model learns. `target`: predicted too, beside the target of the profile. */
const noFeatures: readonly ColumnRole[] = ['ignore', 'group', 'time', 'weights', 'target'];
export type ColumnRole = (typeof columnRoles)[number];

/** What the user decided; what is absent is proposed. */
export interface PlanChoices {
  task?: PlannedTask;
  /** What columns are for, by their names. */
  roles?: Readonly<Record<string, ColumnRole>>;
}

/** A project that learns from a table, with all that was decided and why. */
export interface ProjectPlan {
  /** The columns to predict. */
  targets: readonly string[];
  task: PlannedTask;
  profile: TableProfile;
  /** What each column is for, but for the target of the profile. */
  roles: ReadonlyMap<string, ColumnRole>;
  group: string | null;
  weights: string | null;
  /** The column by which the rows are split. */
  time: string | null;
  isStratified: boolean;
  /** How a series is forecast; null: rows are samples. */
  forecast: ForecastPlan | null;
  /** What was decided, one sentence each with the reason. */
  decisions: readonly string[];
  /** Findings that the decisions leave open. */
  open: readonly Finding[];
}

/** Findings that are about the steps of a series, of which rows that are split by time need not be. */
const ofSteps: ReadonlySet<Finding['kind']> = new Set(['time-order', 'gaps', 'double-times']);
/** Each split needs rows of each class. */
const leastRowsOfClass = 5;

/** A project for what is in a table, or in a folder of images, where no choice is needed. */
export function planData(profile: TableProfile | ImageProfile, choices: PlanChoices): ProjectPlan | ImagePlan {
  return profile.kind === 'table' ? planProject(profile, choices) : planImages(profile);
}

/** The code of a planned project. @param data name of the data beside it @param title the project's name */
export function plannedSource(plan: ProjectPlan | ImagePlan, data: string, title: string): string {
  return 'side' in plan ? imageProjectSource(plan, data, title) : projectSource(plan, data, title);
}

/**
 * A project for what is in a table.
 * @throws Error where no column can be the target, no column is left to learn from, or a choice does not fit
 */
export function planProject(profile: TableProfile, choices: PlanChoices = {}): ProjectPlan {
  const { columns, findings } = profile;
  const target = columns.find(({ name }) => name === profile.target?.name);
  if (target === undefined)
    throw new Error('No column can be the target: each is text, a date or the same in all rows.');
  const targets = [target, ...columns.filter((own) => own !== target && choices.roles?.[own.name] === 'target')];
  const names = listOf(targets.map(({ name }) => name));
  const decisions: string[] = [`Predicts ${names}: ${profile.target?.reason}.`];
  const isSeries = choices.task === undefined && targets.length === 1 && isForecast(profile, target, choices);
  const task = isSeries ? 'forecast' : taskOf(targets, choices.task, decisions);
  const roles = rolesOf(profile, choices, decisions);
  const forecast = task === 'forecast' ? forecastOf({ profile, target, roles, decisions }, choices) : null;
  const [group, weights, time] = (['group', 'weights', 'time'] as const).map((role) => onlyOne(roles, role));
  if (group !== null && time !== null && forecast === null) {
    throw new Error(
      `Rows are split either by the time ${JSON.stringify(time)} or by the group ${JSON.stringify(group)}: give one of ` +
        'the two another role.',
    );
  }
  if (forecast === null && [...roles.values()].every((role) => noFeatures.includes(role))) {
    const images = findings.find(({ kind }) => kind === 'image-names')?.message ?? '';
    throw new Error(`No column is left from which to predict ${names}. ${images}`.trimEnd());
  }
  const isStratified =
    time === null && task === 'classification' && target.bars.every(({ count }) => count >= leastRowsOfClass);
  decisions.push(time === null ? splitDecision({ group, isStratified }) : timeDecision(profile, time));
  const open = openFindings(profile, { roles, group, time });
  const columnNames = targets.map(({ name }) => name);
  return { targets: columnNames, task, profile, roles, group, weights, time, isStratified, forecast, decisions, open };
}

/** The findings that no role settles. */
function openFindings(
  { findings }: TableProfile,
  { roles, group, time }: Pick<ProjectPlan, 'roles' | 'group' | 'time'>,
): Finding[] {
  const settled = new Set([...roles].flatMap(([name, role]) => (['ignore', 'target'].includes(role) ? [name] : [])));
  return findings.filter(({ level, column, kind }) => {
    const isOpen = level !== 'note' && !uselessKinds.has(kind) && (column === null || !settled.has(column));
    return isOpen && !(column === time && ofSteps.has(kind)) && !(column === group && kind === 'groups');
  });
}

/** How the series is forecast. Gives its columns their roles: time, series and what windows consist of. */
function forecastOf(
  {
    profile,
    target,
    roles,
    decisions,
  }: Pick<ProjectPlan, 'profile'> & {
    target: ColumnProfile;
    roles: Map<string, ColumnRole>;
    decisions: string[];
  },
  { roles: wanted = {} }: PlanChoices,
): ForecastPlan {
  const group = onlyOne(roles, 'group') ?? profile.time?.entity ?? null;
  if (profile.time !== null) roles.set(profile.time.name, 'time');
  if (group !== null) roles.set(group, 'group');
  const weights = onlyOne(roles, 'weights');
  if (weights !== null) throw new Error(`A forecast takes no weights: give ${JSON.stringify(weights)} another role.`);
  for (const column of profile.columns) {
    const role = roles.get(column.name);
    const unfit = role === undefined || noFeatures.includes(role) ? null : whyUnfit(column, role);
    if (unfit === null) continue;
    const reason = `${JSON.stringify(column.name)} ${unfit}.`;
    if (Object.hasOwn(wanted, column.name)) throw new Error(`${reason} Leave it out of the forecast, or fill it.`);
    decisions.push(`Leaves out ${JSON.stringify(column.name)}: it ${unfit}.`);
    roles.set(column.name, 'ignore');
  }
  const others = [...roles].flatMap(([name, role]) => (noFeatures.includes(role) ? [] : [name]));
  const forecast = planForecast(profile, target, { columns: [target.name, ...others], entity: group });
  decisions.push(forecastDecision(forecast));
  return forecast;
}

/** Whether a forecast is proposed: the target's numbers are those of a series, and no choice says otherwise. */
function isForecast(profile: TableProfile, target: ColumnProfile, { roles = {} }: PlanChoices): boolean {
  const { time } = profile;
  if (time === null || holdsClasses(target) || whyNoForecast(profile, target) !== null) return false;
  const others = Object.entries(roles).filter(([name]) => name !== time.name && name !== time.entity);
  const isSplitOtherwise = others.some(([, role]) => role === 'group' || role === 'weights');
  return !isSplitOtherwise && (roles[time.name] ?? 'time') === 'time';
}

function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names.map((name) => JSON.stringify(name)));
}

/**
 * What each column but the target is for, also where no project can be planned so.
 * @param decisions gets a sentence for each column that is left out
 * @throws Error for a wanted column that does not exist
 */
export function rolesOf(
  { columns, findings, reading, time, target }: TableProfile,
  { roles: wanted = {} }: PlanChoices,
  decisions: string[] = [],
): Map<string, ColumnRole> {
  const leftOut = reading.leftOut.filter(({ reason }) => reason === 'ignored').map(({ name }) => name);
  for (const name of Object.keys(wanted)) {
    if (!leftOut.includes(name) && !columns.some((column) => column.name === name)) {
      throw new Error(
        `There is no column ${JSON.stringify(name)}. The columns are ${columns.map((own) => own.name).join(', ')}.`,
      );
    }
  }
  const roles = new Map(
    columns
      .filter(({ name }) => name !== target?.name)
      .map(({ name, type }): [string, ColumnRole] => {
        if (Object.hasOwn(wanted, name)) return [name, wanted[name]];
        // Rows are split in one way: another one that the user wants comes first.
        if (name === time?.name && !Object.values(wanted).includes('group')) return [name, 'time'];
        const reason = findings.find(({ column, kind }) => column === name && uselessKinds.has(kind));
        if (reason === undefined && type !== 'text') return [name, type];
        decisions.push(`Leaves out ${JSON.stringify(name)}: ${reason?.message ?? 'it is text.'}`);
        return [name, 'ignore'];
      }),
  );
  for (const name of leftOut) roles.set(name, 'ignore');
  return roles;
}

function onlyOne(roles: ReadonlyMap<string, ColumnRole>, role: ColumnRole): string | null {
  const names = [...roles].flatMap(([name, own]) => (own === role ? [name] : []));
  if (names.length > 1) throw new Error(`${names.join(' and ')} are to be ${role}: only one column can be.`);
  return names[0] ?? null;
}

function splitDecision({ group, isStratified }: Pick<ProjectPlan, 'group' | 'isStratified'>): string {
  const how =
    group !== null
      ? `rows of one ${JSON.stringify(group)} in one split`
      : isStratified
        ? 'with the classes in the same proportions'
        : 'drawn at random';
  return `A fifth of the rows validates and a fifth tests, ${how}.`;
}

function timeDecision({ time }: TableProfile, name: string): string {
  const { split, reason } = requireSplit(time, name);
  return (
    `The latest ${formatCount(split.test)} rows by ${JSON.stringify(name)} test (from ${split.testFrom}), the ` +
    `${formatCount(split.validation)} before them validate (from ${split.validationFrom}), because ${reason}.`
  );
}

function requireSplit(
  time: TimeProfile | null,
  name: string,
): { reason: string; split: NonNullable<TimeProfile['split']> } {
  if (time?.name === name && time.split !== null) return { reason: time.reason, split: time.split };
  throw new Error(
    `The rows cannot be split by the time ${JSON.stringify(name)}: the latest fifth of them, and the fifth before, ` +
      'need times of their own. Choose another role for this column.',
  );
}

/** How many rows each split has; `isAbout` where whole groups, rows without a target or windows make other counts. */
export function splitCounts({ profile, time, group, forecast }: ProjectPlan) {
  if (time !== null) {
    const { train, validation, test } = requireSplit(profile.time, time).split;
    return { train, validation, test, isAbout: forecast !== null };
  }
  const { rows } = profile.reading;
  const held = Math.round(heldOutShare * rows);
  return { train: rows - 2 * held, validation: held, test: held, isAbout: group !== null };
}

/** The name of a project's folder as its title: `my-houses` as `My houses`. */
export function projectTitle(folderName: string): string {
  const words = folderName.replaceAll(/[_-]+/g, ' ').trim();
  return words === '' ? 'My ensemble' : words[0].toUpperCase() + words.slice(1);
}

/** The project's code. @param file name of the table beside it @param title the project's name */
export function projectSource(plan: ProjectPlan, file: string, title: string): string {
  const { forecast } = plan;
  if (forecast === null) return tableSource(plan, file, title);
  const batchSize = batchSizeFor(plan.profile.reading.rows);
  return forecastSource(forecast, { title, file, readingLines: readingLines(plan), batchSize });
}

function tableSource(plan: ProjectPlan, file: string, title: string): string {
  const { targets, task } = plan;
  const isRegression = task === 'heteroscedastic-regression';
  const features = [...plan.roles.values()].filter((role) => !noFeatures.includes(role)).length;
  const predicted = targets.length === 1 ? targets[0] : listOf(targets);
  const description = `${tasks[task].answer} of ${predicted} from ${features} ${features === 1 ? 'column' : 'columns'} of ${file}.`;
  return `import { join } from 'node:path';
import { defineProject, readTable, ${isRegression ? 'type SymbolicTensor, ' : ''}tableSplits, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: ${quoted(title)},
  description: ${quoted(description)},
  task: '${task}',
  hyperparameters: z.object({
    width: z.int().min(1).default(64).meta({ help: 'Units of each of the two hidden layers.' }),
    dropout: z.number().min(0).max(0.9).default(0.1).meta({ help: 'Share of the units that a step leaves out.' }),
  }),
  defaults: {
    members: 5,
    membersPerDevice: 5,
    maxEpochs: 200,
    batchSize: ${batchSizeFor(plan.profile.reading.rows)},
    optimizer: { kind: 'adamw', learningRate: 0.002 },
    earlyStopping: { enabled: true, monitor: 'val/ens_nll', patience: 15 },
  },

  async data({ seed${plan.time === null ? ', fold' : ''} }) {
    const table = await readTable(join(import.meta.dirname, ${quoted(file)}), {
${readingLines(plan)
  .map((line) => `      ${line},`)
  .join('\n')}
    });
    return tableSplits(table, {
${splitLines(plan)
  .map((line) => `      ${line},`)
  .join('\n')}
    });
  },

${tasks[task].model}});
`;
}

/** The model of the project's code, for people. */
export function modelSentence({ task, profile, forecast }: ProjectPlan): string {
  if (forecast !== null) return forecastModelSentence(forecast, batchSizeFor(profile.reading.rows));
  return (
    `Five networks of two hidden layers with 64 units and dropout, which give ${tasks[task].output}; AdamW, batches of ` +
    `${batchSizeFor(profile.reading.rows)}, until the NLL of the ensemble no longer falls.`
  );
}

/** About 100 steps an epoch, so that early stopping sees enough epochs and an epoch enough steps. */
function batchSizeFor(rows: number): number {
  const wanted = (0.6 * rows) / 100;
  return [16, 32, 64, 128, 256].find((size) => size >= wanted) ?? 512;
}

/** All that was found out about the file, as options of `readTable`. */
function readingLines({ profile, roles }: ProjectPlan): string[] {
  const { reading, columns } = profile;
  const types = columns.map((column) => {
    const role = column.name === profile.target?.name ? undefined : roles.get(column.name);
    const isTyped = role === 'ignore' || (role !== undefined && !noFeatures.includes(role));
    return { ...column, type: isTyped ? role : column.type };
  });
  const decimals = types.flatMap(({ name, type, numberFormat }) =>
    type === 'number' && numberFormat !== null ? [`${keyOf(name)}: '${numberFormat.decimal}'`] : [],
  );
  const dates = types.flatMap(({ name, type, dateFormat }) =>
    type === 'date' && dateFormat !== null ? [`${keyOf(name)}: '${dateFormat}'`] : [],
  );
  const leftOut = [...roles.keys()].filter((name) => !columns.some((column) => column.name === name));
  const lines = [...types, ...leftOut.map((name) => ({ name, type: 'ignore' }))].map(
    ({ name, type }) => `        ${keyOf(name)}: '${type}',\n`,
  );
  return [
    ...(reading.delimiter === null ? [] : [`delimiter: ${quoted(reading.delimiter)}`]),
    ...(reading.header === null ? [] : [`header: ${reading.header}`]),
    ...(reading.delimiter === null ? [] : [`commentLines: ${reading.comments.length}`]),
    ...(reading.encoding === null || reading.hasMark ? [] : [`encoding: ${quoted(reading.encoding)}`]),
    ...(decimals.length === 0 ? [] : [`decimal: { ${decimals.join(', ')} }`]),
    ...(dates.length === 0 ? [] : [`dateFormat: { ${dates.join(', ')} }`]),
    `missingValues: [${reading.missingValues.map(quoted).join(', ')}]`,
    `columns: {\n${lines.join('')}      }`,
  ];
}

function splitLines({ profile, targets, task, group, weights, time, isStratified, roles }: ProjectPlan): string[] {
  // Nothing can stand for a target, a weight, a group or a time.
  const needed = [...targets, weights, group, time];
  const incomplete = profile.columns.filter(({ name, missing }) => {
    return roles.get(name) !== 'ignore' && Object.keys(missing).length > 0;
  });
  const hasHoles = incomplete.some(({ name }) => needed.includes(name));
  // Of several targets, a row counts for those that it has.
  const policyOf = (name: string): string =>
    targets.length > 1 && targets.includes(name) ? 'mask' : needed.includes(name) ? 'drop' : 'impute';
  const policies = incomplete.map(({ name }) => `${keyOf(name)}: '${policyOf(name)}'`);
  return [
    'seed',
    ...(time === null ? ['fold'] : [`time: ${quoted(time)}`]),
    `target: ${targets.length === 1 ? quoted(targets[0]) : `[${targets.map(quoted).join(', ')}]`}`,
    `targetKind: '${tasks[task].targetKind}'`,
    hasHoles ? `missing: { ${policies.join(', ')} }` : "missing: 'impute'",
    ...(task === 'heteroscedastic-regression' ? ['standardizeTargets: true'] : []),
    ...(group === null ? [] : [`group: ${quoted(group)}`]),
    ...(weights === null ? [] : [`weights: ${quoted(weights)}`]),
    `validation: ${heldOutShare}`,
    `test: ${heldOutShare}`,
    ...(isStratified && group === null ? ['stratify: true'] : []),
  ];
}
