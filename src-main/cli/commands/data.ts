import { basename, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { explainFileError } from '../../../core/node/file-error.ts';
import { nearest } from '../../../core/options/suggest.ts';
import type { ImagePlan } from '../../../core/preprocessing/image-plan.ts';
import type { Finding } from '../../../core/preprocessing/profile.ts';
import { profileText } from '../../../core/preprocessing/profile-text.ts';
import {
  type ColumnRole,
  columnRoles,
  type PlannedTask,
  planData,
  type ProjectPlan,
} from '../../../core/preprocessing/project-plan.ts';
import {
  answered,
  type FileProfile,
  type ReadingOptions,
  readingOptionsSchema,
  readingWith,
} from '../../../core/protocol/run/inspect-task.ts';
import { printable } from '../../../core/text/printable.ts';
import { tutti } from '../../../core/text/program.ts';
import { inspectData } from '../../creation/inspect-data.ts';
import { templates, whyOccupied, writePlanned, writeTemplate } from '../../creation/write-project.ts';
import { trustFolder } from '../../trust/project-trust.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { delimiters } from '../program/common.ts';

/** Flags that say how a table is read. */
export interface ReadingFlags {
  delimiter?: string;
  /** `false` of `--no-header`. */
  header?: boolean;
  commentLines?: number;
  encoding?: string;
  decimal?: string;
  dateFormat?: string;
  missing?: string[];
  /** Of images of more than 8 bits a value. */
  maximum?: number;
}

export interface InspectFlags extends ReadingFlags {
  target?: string;
  json?: boolean;
}

/** `tutti inspect <path>`: what is in a file of data. @returns the exit code */
export async function inspect(path: string, flags: InspectFlags): Promise<number> {
  const { target, json = false, ...reading } = flags;
  const task = { path, reading: readingOptions(reading), ...(target !== undefined && { target }) };
  const profile = await inspectData(task);
  process.stdout.write(json ? `${JSON.stringify(profile)}\n` : `${profileText(profile)}\n`);
  return exitCodes.finished;
}

/** The flags have been checked but for the encoding, of which the reader knows the names. */
export function readingOptions({ delimiter, missing, ...others }: ReadingFlags): ReadingOptions {
  return readingOptionsSchema.parse({
    ...others,
    ...(delimiter !== undefined && { delimiter: delimiters[delimiter] }),
    ...(missing !== undefined && { missingValues: missing }),
  });
}

export interface CreateFlags extends ReadingFlags {
  template: string;
  /** A file of data to begin with, in place of a template. */
  from?: string;
  target?: string;
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
    else await writePlanned(target, plan, from);
  } catch (error) {
    throw explainFileError(error, target, 'write the project into');
  }
  await trustFolder(target);
  process.stdout.write(`${nextSteps(target, plan === null ? template : basename(from ?? '')).join('\n')}\n`);
  return exitCodes.finished;
}

/** Inspects the data, has questions answered, and says what was found and decided. */
async function planFrom(path: string, flags: Omit<CreateFlags, 'from' | 'template'>): Promise<ProjectPlan | ImagePlan> {
  const { target, task, column, ...own } = flags;
  const roles = rolesOf(column);
  const profile = await answeredProfile(path, readingWith(readingOptions(own), roles), target);
  if (profile.kind === 'images' && (target !== undefined || task !== undefined || column.length > 0)) {
    throw new UsageError(
      'The folders of images are the classes to predict: --target, --task and --column are for tables.',
    );
  }
  const plan = planData(profile, { roles, ...(task !== undefined && { task }) });
  const open = plan.open.flatMap(({ level, message, option }) => [
    `${level}: ${message}`,
    ...(option === null ? [] : [`  ${option}`]),
  ]);
  process.stdout.write(
    `${printable([profileText({ ...profile, findings: [] }), '', ...plan.decisions, ...open].join('\n'))}\n\n`,
  );
  return plan;
}

/** @throws UsageError for what is no role of a column */
function rolesOf(given: readonly string[]): Record<string, ColumnRole> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.lastIndexOf('=');
      const role = columnRoles.find((own) => own === text.slice(at + 1));
      if (at > 0 && role !== undefined) return [text.slice(0, at), role];
      throw new UsageError(`--column ${text}: write a column and what it is, name=${columnRoles.join('|')}.`);
    }),
  );
}

/** What is in a file, once every question about it has an answer: of a person at a terminal, or of the flags. */
async function answeredProfile(
  path: string,
  reading: ReadingOptions,
  target: string | undefined,
): Promise<FileProfile> {
  let options = reading;
  for (;;) {
    const profile = await inspectData({ path, reading: options, ...(target !== undefined && { target }) });
    const questions = profile.findings.filter(({ level }) => level === 'question');
    if (questions.length === 0) return profile;
    if (!process.stdin.isTTY) throw new UsageError(openQuestions(questions));
    for (const finding of questions) options = answered(options, { finding, profile }, await askPerson(finding));
  }
}

const flagsOf: Partial<Record<Finding['kind'], string>> = {
  encoding: '--encoding',
  header: '--header or --no-header',
  'number-format': '--decimal',
  'date-format': '--date-format',
  depth: '--maximum',
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
