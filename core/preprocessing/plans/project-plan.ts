import { formatCount } from '../../text/numbers.ts';
import { uselessKinds } from '../column-findings.ts';
import { type ColumnProfile, type Finding, heldOutShare, type TableProfile, type TimeProfile } from '../profile.ts';
import { type PlannedTask, taskOf } from './planned-task.ts';
import { holdsClasses } from '../profile-findings.ts';
import { splitCountsText, whyNoSplits } from '../split-column.ts';
import type { SplitName } from '../split-column.ts';
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
 * the images to learn from. `split`: names the split of the row or the image.
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
  /** The column by whose times the rows are split. */
  time: string | null;
  /** The column that names the split of each row. */
  split: string | null;
  /** The splits that are drawn at random. */
  drawn: readonly SplitName[];
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
/** Findings that are about a column of splits, of no concern where it is none. */
const ofSplits: ReadonlySet<Finding['kind']> = new Set(['splits', 'shared-rows']);
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
  const [group, weights, time, split] = (['group', 'weights', 'time', 'split'] as const).map((role) =>
    onlyOne(roles, role),
  );
  if (forecast === null) requireOneSplit({ group, time, split });
  if (forecast === null && [...roles.values()].every((role) => noFeatures.includes(role))) {
    const images = findings.find(({ kind }) => kind === 'image-names')?.message ?? '';
    throw new Error(`No column is left from which to predict ${names}. ${images}`.trimEnd());
  }
  const drawn = drawnSplits(profile, { time, split });
  const isStratified =
    drawn.length > 0 && task === 'classification' && target.bars.every(({ count }) => count >= leastRowsOfClass);
  const givenBy = time === null ? givenDecision(profile, split) : timeDecision(profile, time);
  decisions.push([givenBy, drawnDecision(drawn, { group, isStratified })].filter((text) => text !== '').join(' '));
  const about = { roles, group, weights, time, split };
  const open = openFindings(findings, about);
  const columnNames = targets.map(({ name }) => name);
  return { targets: columnNames, task, profile, ...about, drawn, isStratified, forecast, decisions, open };
}

/** @throws Error where the rows are to be split in several ways */
function requireOneSplit({ group, time, split }: Pick<ProjectPlan, 'group' | 'time' | 'split'>): void {
  const [way, other] = split === null ? ['group', group] : ['names of splits', split];
  if (time === null || other === null) return;
  throw new Error(
    `Rows are split either by the time ${JSON.stringify(time)} or by the ${way} ${JSON.stringify(other)}: give one of ` +
      'the two another role.',
  );
}

/** The columns to predict: the target of the profile, and further ones. @throws Error where there is none */
export function targetsOf({ columns, target }: TableProfile, roles: PlanChoices['roles'] = {}): ColumnProfile[] {
  const first = columns.find(({ name }) => name === target?.name);
  if (first === undefined)
    throw new Error('No column can be the target: each is text, a date or the same in all rows.');
  return [first, ...columns.filter((own) => own !== first && roles[own.name] === 'target')];
}

/** @throws Error for a role that only a column of a table of images can have */
function refuseImages({ roles = {} }: PlanChoices): void {
  const [name] = Object.entries(roles).find(([, own]) => own === 'image') ?? [];
  if (name === undefined) return;
  throw new Error(
    `None of the images that ${JSON.stringify(name)} names is beside the table. Give the folder in which they lie: ` +
      '--images, or the field on the page.',
  );
}

/** The findings that no role settles. */
export function openFindings(
  findings: readonly Finding[],
  { roles, group, time, split }: Pick<ProjectPlan, 'roles' | 'group' | 'time' | 'split'>,
): Finding[] {
  const isSettled = ({ column, kind }: Finding): boolean => {
    const role = roles.get(column ?? '');
    // What no model learns from gives no answer away.
    return role !== undefined && (kind === 'answer' ? noFeatures.includes(role) : role === 'ignore');
  };
  return findings.filter((finding) => {
    const { level, column, kind } = finding;
    const isOpen = level !== 'note' && !uselessKinds.has(kind) && !isSettled(finding);
    if (ofSplits.has(kind) && roles.has(column ?? '') && column !== split) return false;
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
  leaveOutSplit(roles, wanted, decisions);
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

/** Leaves out names of splits that were proposed. @throws Error for a wanted role that no forecast has */
function leaveOutSplit(
  roles: Map<string, ColumnRole>,
  wanted: NonNullable<PlanChoices['roles']>,
  decisions: string[],
): void {
  const [weights, split] = [onlyOne(roles, 'weights'), onlyOne(roles, 'split')];
  if (weights !== null) throw new Error(`A forecast takes no weights: give ${JSON.stringify(weights)} another role.`);
  if (split === null) return;
  const name = JSON.stringify(split);
  if (Object.hasOwn(wanted, split)) throw new Error(`A forecast takes no names of splits: give ${name} another role.`);
  decisions.push(`Leaves out ${name}, which names splits: a forecast is split by its time.`);
  roles.set(split, 'ignore');
}

/** Whether a forecast is proposed: the target's numbers are those of a series, and no choice says otherwise. */
function isForecast(profile: TableProfile, target: ColumnProfile, { roles = {} }: PlanChoices): boolean {
  const { time } = profile;
  if (time === null || holdsClasses(target) || whyNoForecast(profile, target) !== null) return false;
  const others = Object.entries(roles).filter(([name]) => name !== time.name && name !== time.entity);
  const isSplitOtherwise = others.some(([, role]) => role === 'group' || role === 'weights');
  return !isSplitOtherwise && !splitsByNames(profile, roles) && (roles[time.name] ?? 'time') === 'time';
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
  profile: TableProfile,
  { roles: wanted = {} }: PlanChoices = {},
  decisions: string[] = [],
): Map<string, ColumnRole> {
  const { columns, findings, reading, time, target } = profile;
  const isBySplit = splitsByNames(profile, wanted);
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
        if (name === time?.name && !isBySplit && !Object.values(wanted).includes('group')) return [name, 'time'];
        if (name === proposedSplit(profile)) {
          if (isBySplit && !Object.values(wanted).includes('split')) return [name, 'split'];
          decisions.push(`Leaves out ${JSON.stringify(name)}, which names splits: the rows are split otherwise.`);
          return [name, 'ignore'];
        }
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

/** The column that is proposed to name the splits. */
function proposedSplit({ split, target }: TableProfile): string | null {
  return split === null || split.name === target?.name || whyNoSplits(split) !== null ? null : split.name;
}

/** Whether a column names the splits of the rows, as the user says, or as is proposed and no wanted role replaces. */
function splitsByNames(profile: TableProfile, wanted: NonNullable<PlanChoices['roles']>): boolean {
  const roles = Object.values(wanted);
  const proposed = proposedSplit(profile);
  return roles.includes('split') || (proposed !== null && wanted[proposed] === undefined && !roles.includes('time'));
}

/** @throws Error where several columns have a role */
export function onlyOne(roles: ReadonlyMap<string, ColumnRole>, role: ColumnRole): string | null {
  const names = [...roles].flatMap(([name, own]) => (own === role ? [name] : []));
  if (names.length > 1) throw new Error(`${names.join(' and ')} are to be ${role}: only one column can be.`);
  return names[0] ?? null;
}

/** The splits that neither times nor names of splits give. */
function drawnSplits(
  { split: names }: TableProfile,
  { time, split }: Pick<ProjectPlan, 'time' | 'split'>,
): SplitName[] {
  if (time !== null) return [];
  if (split === null) return ['validation', 'test'];
  return names?.validation === 0 ? ['validation'] : [];
}

function drawnDecision(
  drawn: readonly SplitName[],
  { group, isStratified }: Pick<ProjectPlan, 'group' | 'isStratified'>,
): string {
  if (drawn.length === 0) return '';
  const how =
    group !== null
      ? `rows of one ${JSON.stringify(group)} in one split`
      : isStratified
        ? 'with the classes in the same proportions'
        : 'drawn at random';
  const what = drawn.includes('test') ? 'rows validates and a fifth tests' : 'training rows validates';
  return `A fifth of the ${what}, ${how}.`;
}

/** @throws Error for a column that cannot name the splits */
function givenDecision({ split: names }: TableProfile, split: string | null): string {
  if (split === null) return '';
  return `${JSON.stringify(split)} names the split of each row: ${splitCountsText(requireNames(names, split))}.`;
}

function requireNames(names: TableProfile['split'], split: string): NonNullable<TableProfile['split']> {
  if (names?.name !== split) throw new Error(`The splits that ${JSON.stringify(split)} names have not been read yet.`);
  const why = whyNoSplits(names);
  if (why !== null) throw new Error(why);
  return names;
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
export function splitCounts({ profile, time, split, group, forecast }: ProjectPlan) {
  if (time !== null) {
    const { train, validation, test } = requireSplit(profile.time, time).split;
    return { train, validation, test, isAbout: forecast !== null };
  }
  if (split !== null) {
    const { train, validation, test } = requireNames(profile.split, split);
    const held = validation === 0 ? Math.round(heldOutShare * train) : 0;
    return { train: train - held, validation: validation + held, test, isAbout: group !== null && held > 0 };
  }
  const { rows } = profile.reading;
  const held = Math.round(heldOutShare * rows);
  return { train: rows - 2 * held, validation: held, test: held, isAbout: group !== null };
}
