import { cp, readFile, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { tutti } from '../../../core/text/program.ts';
import { explainFileError } from '../../../core/node/file-error.ts';
import { makeFolder } from '../../../core/node/make-folder.ts';
import { nearest } from '../../../core/options/suggest.ts';
import { profileText } from '../../../core/preprocessing/profile-text.ts';
import { type ReadingOptions, readingOptionsSchema } from '../../../core/protocol/run/inspect-task.ts';
import { inspectData } from '../../creation/inspect-data.ts';
import { appFile } from '../../processes/app-files.ts';
import { trustFolder } from '../../trust/project-trust.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { delimiters } from '../program/common.ts';

/** Flags that say how a table is read. */
export interface ReadingFlags {
  delimiter?: string;
  /** `false` of `--no-header`. */
  header?: boolean;
  encoding?: string;
  decimal?: string;
  dateFormat?: string;
  missing?: string[];
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

export interface CreateOptions {
  template: string;
}

/** Files that every project gets. */
const shared = 'shared';
const library = 'tutti-ensembles';

/**
 * `tutti create <folder>`: writes a project that trains at once, and trusts its folder.
 * @returns the exit code
 * @throws UsageError if there is no such template, or the folder has files
 */
export async function create(folder: string, { template }: CreateOptions): Promise<number> {
  const target = resolve(folder);
  requireTemplate(template);
  requireEmpty(target);
  try {
    await writeProject(target, template);
  } catch (error) {
    throw explainFileError(error, target, 'write the project into');
  }
  await trustFolder(target);
  process.stdout.write(`${nextSteps(target, template).join('\n')}\n`);
  return exitCodes.finished;
}

/** The names of the templates. */
export function templates(): string[] {
  return readdirSync(appFile('templates')).filter((name) => name !== shared);
}

function requireTemplate(name: string): void {
  const names = templates();
  if (names.includes(name)) return;
  const [guess] = nearest(name, names);
  const remedy = guess === undefined ? `Choose one of ${names.join(', ')}.` : `Did you mean ${guess}?`;
  throw new UsageError(`There is no template "${name}". ${remedy}`);
}

function requireEmpty(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new UsageError(`${folder} is a file. Choose the name of a new folder.`);
  const [first] = readdirSync(folder);
  if (first === undefined) return;
  throw new UsageError(`${folder} holds files, such as ${first}. Choose a new folder, or an empty one.`);
}

async function writeProject(folder: string, template: string): Promise<void> {
  await makeFolder(folder);
  for (const name of [shared, template]) {
    await cp(appFile(join('templates', name)), folder, { recursive: true });
  }
  await nameProgram(join(folder, 'README.md'));
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const made = { ...manifest, name: packageName(folder), ...dependenciesIn(folder) };
  await writeFile(path, `${JSON.stringify(made, null, 2)}\n`);
}

/** Its commands begin with `npx tutti`, which the desktop app's users do not have. */
async function nameProgram(readme: string): Promise<void> {
  await writeFile(readme, (await readFile(readme, 'utf8')).replaceAll('npx tutti ', `${tutti} `));
}

/** The folder's name in the letters that npm allows. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '');
  return name === '' ? 'my-ensemble' : name;
}

/** Types of the library: where the folder does not find it, a link to this installation. Training needs neither. */
function dependenciesIn(folder: string): { dependencies?: Record<string, string> } {
  try {
    createRequire(join(folder, 'package.json')).resolve(library);
    return {};
  } catch {
    return { dependencies: { [library]: `file:${resolve(appFile('.'))}` } };
  }
}

function nextSteps(folder: string, template: string): string[] {
  const name = relative('', folder) || '.';
  const shown = /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
  return [
    `${folder} holds a project (${template}), which is trusted. Next:`,
    `  ${tutti} train ${shown}`,
    `  ${tutti} dashboard`,
    'Its README.md says what to replace with yours.',
  ];
}
