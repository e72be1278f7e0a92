import { basename, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { explainFileError } from '../../../core/node/file-error.ts';
import { nearest } from '../../../core/options/suggest.ts';
import { type ImagePlan, planData } from '../../../core/preprocessing/plans/image-plan.ts';
import type { Finding } from '../../../core/preprocessing/profile.ts';
import { contentText, profileText } from '../../../core/preprocessing/profile-text.ts';
import type { PlannedTask } from '../../../core/preprocessing/plans/planned-task.ts';
import { columnRoles, type ProjectPlan } from '../../../core/preprocessing/plans/project-plan.ts';
import { splitAnswers } from '../../../core/preprocessing/split-column.ts';
import {
  answered,
  type FileProfile,
  type InspectTask,
  type ReadingOptions,
  readingOptionsSchema,
  understandingWith,
} from '../../../core/protocol/run/inspect-task.ts';
import { printable } from '../../../core/text/printable.ts';
import { tutti } from '../../../core/text/program.ts';
import { inspectData } from '../../creation/inspect-data.ts';
import { clearLine } from '../../processes/terminal.ts';
import { templates, whyOccupied, writePlanned, writeTemplate } from '../../creation/write-project.ts';
import { trustFolder } from '../../trust/project-trust.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { delimiters } from '../program/common.ts';

/** Flags that say how data are read. */
export interface ReadingFlags {
  delimiter?: string;
  /** `false` of `--no-header`. */
  header?: boolean;
  commentLines?: number;
  encoding?: string;
  sheet?: string;
  range?: string;
  decimal?: string;
  dateFormat?: string;
  missing?: string[];
  ignoreCase?: string[];
  /** Of images of more than 8 bits a value. */
  maximum?: number;
  /** What folders of images, or values of a column of splits, are: `tests=test`, one each. */
  splitFolder?: string[];
  /** The folder of the images that a table names. */
  images?: string;
}

export interface InspectFlags extends ReadingFlags {
  target: string[];
  time?: string;
  /** The column that names images. */
  image?: string;
  /** The column that says the split of each row. */
  split?: string;
  json?: boolean;
}

/** `tutti inspect <path>`: what is in a file of data. @returns the exit code */
export async function inspect(path: string, flags: InspectFlags): Promise<number> {
  const { json = false, ...others } = flags;
  const {
    target: [target, ...furtherTargets],
    time,
    image,
    split,
    ...written
  } = others;
  const roles = {
    ...(time !== undefined && { [time]: 'time' as const }),
    ...(image !== undefined && { [image]: 'image' as const }),
    ...(split !== undefined && { [split]: 'split' as const }),
    ...Object.fromEntries(furtherTargets.map((name) => [name, 'target' as const])),
  };
  const task = {
    path,
    ...understandingWith(readingOptions(written), roles),
    ...(target !== undefined && { target }),
  };
  const profile = await inspectedInTerminal(task);
  requireEffect(profile, others);
  process.stdout.write(json ? `${JSON.stringify(profile)}\n` : `${profileText(profile)}\n`);
  return exitCodes.finished;
}

/** Inspects data, and says meanwhile what it does. */
async function inspectedInTerminal(task: InspectTask): Promise<FileProfile> {
  const { stderr } = process;
  if (!stderr.isTTY) return inspectData(task);
  const progress = ({ doing }: { doing: string }): void =>
    void stderr.write(`${clearLine}${basename(task.path)}: ${doing}`);
  try {
    return await inspectData(task, { progress });
  } finally {
    stderr.write(clearLine);
  }
}

/** The flags have been checked but for the encoding, of which the reader knows the names. */
export function readingOptions({
  delimiter,
  missing,
  splitFolder = [],
  images,
  ...others
}: ReadingFlags): ReadingOptions {
  return readingOptionsSchema.parse({
    ...others,
    ...(delimiter !== undefined && { delimiter: delimiters[delimiter] }),
    ...(missing !== undefined && { missingValues: missing }),
    ...(images !== undefined && { images: resolve(images) }),
    ...(splitFolder.length > 0 && { splitFolders: pairsOf('--split-folder', splitFolder, splitAnswers) }),
  });
}

export interface CreateFlags extends ReadingFlags {
  template: string;
  /** A file of data to begin with, in place of a template. */
  from?: string;
  target: string[];
  task?: PlannedTask;
  /** `age=category`, one column each. */
  column: string[];
}

/**
 * `tutti create <folder>`: writes a project that trains at once, and trusts its folder.
 * @returns the exit code
 * @throws UsageError if there is no such template, or the folder has files
 */
export async function create(folder: string, { from, template, ...flags }: CreateFlags): Promise<number> {
  const target = resolve(folder);
  const occupied = whyOccupied(target);
  if (occupied !== null) throw new UsageError(occupied);
  if (from === undefined) requireTemplate(template);
  const plan = from === undefined ? null : await planFrom(from, flags);
  try {
    if (from === undefined || plan === null) await writeTemplate(target, template);
    else await writePlanned(target, plan, { path: from, images: flags.images && resolve(flags.images) });
  } catch (error) {
    throw explainFileError(error, target, 'write the project into');
  }
  await trustFolder(target);
  process.stdout.write(`${nextSteps(target, plan === null ? template : basename(from ?? '')).join('\n')}\n`);
  return exitCodes.finished;
}

/** Inspects the data, has questions answered, and says what was found and decided. */
async function planFrom(path: string, flags: Omit<CreateFlags, 'from' | 'template'>): Promise<ProjectPlan | ImagePlan> {
  const { target: targets, task, column, ...own } = flags;
  const [target, ...further] = targets;
  const roles = {
    ...pairsOf('--column', column, columnRoles),
    ...Object.fromEntries(further.map((name) => [name, 'target' as const])),
  };
  const profile = await answeredProfile({
    path,
    ...understandingWith(readingOptions(own), roles),
    ...(target !== undefined && { target }),
  });
  requireEffect(profile, flags);
  const plan = planData(profile, { roles, ...(task !== undefined && { task }) });
  const open = plan.open.flatMap(({ level, message, option }) => [
    `${level}: ${message}`,
    ...(option === null ? [] : [`  ${option}`]),
  ]);
  process.stdout.write(`${printable([contentText(profile), '', ...plan.decisions, ...open].join('\n'))}\n\n`);
  return plan;
}

/** Flags for images; all others are for tables, and all are for tables that name images. */
const imageFlags: readonly string[] = ['maximum', 'splitFolder', 'images'] satisfies (keyof ReadingFlags)[];

/** @throws UsageError for flags that have no effect on such data */
function requireEffect(profile: FileProfile, flags: object): void {
  const { kind } = profile;
  if (kind === 'images' && profile.table !== null) return;
  const without = Object.entries(flags)
    .filter(([name, value]) => imageFlags.includes(name) === (kind === 'table') && [value].flat()[0] !== undefined)
    .map(([name]) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)
    .toSorted();
  if (without.length === 0) return;
  const names = new Intl.ListFormat('en-GB').format(without);
  const why =
    kind === 'table'
      ? 'of images, and this is a table that names none'
      : 'of tables, and this is a folder of images, whose folders are the classes to predict';
  throw new UsageError(
    `${names}: ${without.length === 1 ? 'a flag' : 'flags'} ${why}. Leave ${without.length === 1 ? 'it' : 'them'} out.`,
  );
}

/** The values of a repeatable flag, `name=value`, by name. @throws UsageError for what is none of the values */
function pairsOf<Value extends string>(
  flag: string,
  given: readonly string[],
  values: readonly Value[],
): Record<string, Value> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.lastIndexOf('=');
      const value = values.find((own) => own === text.slice(at + 1));
      if (at > 0 && value !== undefined) return [text.slice(0, at), value];
      throw new UsageError(`${flag} ${text}: write a name and what it is, name=${values.join('|')}.`);
    }),
  );
}

/** What is in a file, once every question about it has an answer: of a person at a terminal, or of the flags. */
async function answeredProfile(task: InspectTask): Promise<FileProfile> {
  let options = task.reading;
  for (;;) {
    const profile = await inspectedInTerminal({ ...task, reading: options });
    const questions = profile.findings.filter(({ level }) => level === 'question');
    if (questions.length === 0) return profile;
    if (!process.stdin.isTTY) throw new UsageError(openQuestions(questions));
    for (const finding of questions) options = answered(options, { finding, profile }, await askPerson(finding));
  }
}

const flagsOf: Partial<Record<Finding['kind'], string>> = {
  encoding: '--encoding',
  sheet: '--sheet',
  range: '--range',
  header: '--header or --no-header',
  'number-format': '--decimal',
  'date-format': '--date-format',
  depth: '--maximum',
  splits: '--split-folder name=train, =validation, =test or =none',
  misfits: '--missing, or --column name=category',
};

function openQuestions(questions: readonly Finding[]): string {
  const lines = questions.map(({ kind, message }) => `- ${message} Say so with ${flagsOf[kind]}.`);
  return ['The file can be understood in several ways, and there is no terminal to ask at:', ...lines].join('\n');
}

async function askPerson({ message, choices }: Finding): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const [assumed = ''] = choices ?? [];
    const text = `${printable(message)}\n  ${choices?.join(', ')} [${assumed}]: `;
    for (;;) {
      const answer = (await terminal.question(text)).trim() || assumed;
      if (choices?.includes(answer)) return answer;
    }
  } finally {
    terminal.close();
  }
}

function requireTemplate(name: string): void {
  const names = templates();
  if (names.includes(name)) return;
  const [guess] = nearest(name, names);
  const remedy = guess === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean ${guess}?`;
  throw new UsageError(`There is no template "${name}". ${remedy}`);
}

function nextSteps(folder: string, template: string): string[] {
  const name = relative('', folder) || '.';
  const shown = /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
  return [
    `${folder} holds a project (${template}), which is trusted. Next:`,
    `  ${tutti} train ${shown}`,
    `  ${tutti} dashboard`,
    'Its README.md says more.',
  ];
}
