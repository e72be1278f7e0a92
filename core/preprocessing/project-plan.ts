import { formatCount } from '../text/numbers.ts';
import { uselessKinds } from './column-findings.ts';
import { type ColumnProfile, type Finding, heldOutShare, type TableProfile, type TimeProfile } from './profile.ts';
import { type PlannedTask, taskOf } from './planned-task.ts';
import { holdsClasses } from './profile-findings.ts';
import { forecastDecision, type ForecastPlan, planForecast, whyNoForecast, whyUnfit } from './series-plan.ts';

/** What a column of a table is for. */
export const columnRoles = [
  'number',
  'category',
  'boolean',
  'date',
  'text',
  'ignore',
  'group',
  'time',
  'weights',
  'target',
  'image',
  'split',
] as const;
/**
 * Roles of columns from which no model learns. `target`: predicted beside the target of the profile. `image`: names
 * the images to learn from, of which `split` says the split.
 */
export const noFeatures: readonly ColumnRole[] = ['ignore', 'group', 'time', 'weights', 'target', 'image', 'split'];
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
/** The model reads so many words of every text. */
export const textLength = 64;
/** Texts of fewer words, on average, are names or keys rather than something to read. */
const leastWords = 8;
/** Each split needs rows of each class. */
const leastRowsOfClass = 5;

/**
 * A project for what is in a table.
 * @throws Error where no column can be the target, no column is left to learn from, or a choice does not fit
 */
export function planProject(profile: TableProfile, choices: PlanChoices = {}): ProjectPlan {
  const { findings } = profile;
  refuseImages(choices);
  const targets = targetsOf(profile, choices.roles);
  const [target] = targets;
  const names = listOf(targets.map(({ name }) => name));
  const decisions: string[] = [`Predicts ${names}: ${profile.target?.reason}.`];
  decisions.push(...findings.filter(({ kind }) => kind === 'left-out').map(({ message }) => message));
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
  const open = openFindings(findings, { roles, group, time });
  const columnNames = targets.map(({ name }) => name);
  return { targets: columnNames, task, profile, roles, group, weights, time, isStratified, forecast, decisions, open };
}

/** The columns to predict: the target of the profile, and further ones. @throws Error where there is none */
export function targetsOf({ columns, target }: TableProfile, roles: PlanChoices['roles'] = {}): ColumnProfile[] {
  const first = columns.find(({ name }) => name === target?.name);
  if (first === undefined)
    throw new Error('No column can be the target: each is text, a date or the same in all rows.');
  return [first, ...columns.filter((own) => own !== first && roles[own.name] === 'target')];
}

/** @throws Error for roles that only columns of a table of images can have */
function refuseImages({ roles = {} }: PlanChoices): void {
  const [name, role] = Object.entries(roles).find(([, own]) => own === 'image' || own === 'split') ?? [];
  if (name === undefined) return;
  throw new Error(
    role === 'image'
      ? `None of the images that ${JSON.stringify(name)} names is beside the table. Give the folder in which they lie: ` +
          '--images, or the field on the page.'
      : `${JSON.stringify(name)} is to give the splits, which only a table of images takes. Choose another role.`,
  );
}

/** The findings that no role settles. */
export function openFindings(
  findings: readonly Finding[],
  { roles, group, time }: Pick<ProjectPlan, 'roles' | 'group' | 'time'>,
): Finding[] {
  const isSettled = ({ column, kind }: Finding): boolean => {
    const role = roles.get(column ?? '');
    // What no model learns from gives no answer away.
    return role !== undefined && (kind === 'answer' ? noFeatures.includes(role) : role === 'ignore');
  };
  return findings.filter((finding) => {
    const { level, column, kind } = finding;
    const isOpen = level !== 'note' && !uselessKinds.has(kind) && !isSettled(finding);
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

/** Whether a column holds texts to read, as its examples show. */
function isProse({ type, examples }: ColumnProfile): boolean {
  const words = examples.reduce<number>((sum, text) => sum + String(text).split(/\s+/).length, 0);
  return type === 'text' && words >= leastWords * examples.length;
}

export function listOf(names: readonly string[]): string {
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
      .map((own): [string, ColumnRole] => {
        const { name, type } = own;
        if (Object.hasOwn(wanted, name)) return [name, wanted[name]];
        // Rows are split in one way: another one that the user wants comes first.
        if (name === time?.name && !Object.values(wanted).includes('group')) return [name, 'time'];
        if (isProse(own)) {
          decisions.push(`Reads the first ${textLength} words of ${JSON.stringify(name)}.`);
          return [name, 'text'];
        }
        const reason = findings.find(({ column, kind }) => column === name && uselessKinds.has(kind));
        if (reason === undefined && type !== 'text') return [name, type];
        decisions.push(`Leaves out ${JSON.stringify(name)}: ${reason?.message ?? 'it is text.'}`);
        return [name, 'ignore'];
      }),
  );
  for (const name of leftOut) roles.set(name, 'ignore');
  return roles;
}

/** @throws Error where several columns have a role */
export function onlyOne(roles: ReadonlyMap<string, ColumnRole>, role: ColumnRole): string | null {
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
