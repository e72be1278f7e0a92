import nodeModule from 'node:module';
import vm from 'node:vm';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { messageOf } from '../../core/text/errors.ts';
import { registry } from '../../core/metrics/registry/index.ts';
import { taskKinds, whyNotNamed } from '../../core/metrics/registry/metric.ts';
import { nearest } from '../../core/options/suggest.ts';
import type { HyperparameterSchema, Project } from './define-project.ts';
import { loadedModules, shareOwnCopies } from '../system/own-copies.ts';
import { keepThreads } from '../system/own-threads.ts';
import { mountSources } from '../system/kept-sources.ts';
import { outputNameSchema } from '../../core/ensemble/predictions.ts';
import type { TableReading } from '../../core/preprocessing/reading.ts';
import { searchSpaceSchema } from '../../core/studies/space/schema.ts';
import { permissionsSchema } from '../../core/protocol/run/permissions.ts';
import { projectEntries } from '../../core/protocol/run/project-description.ts';
import type { Launch } from '../../core/protocol/run/messages.ts';
import { createSplits, type Dataset, type Splits } from '../data/dataset.ts';
import { withKeptClasses } from '../data/kept-classes.ts';
import { withNotes } from '../data/notes.ts';
import { preprocessingOf } from '../data/standardize.ts';
import { keepDeepStacks } from './explain-error.ts';
import { Generator, withSeededMathRandom } from '../random/index.ts';
import { type Confinement, confinementVariable } from '../../core/protocol/machine/confinement.ts';

const isFunction = z.custom((value) => typeof value === 'function', 'must be a function');

const metricsSchema = z
  .record(
    z.string(),
    z.strictObject({
      direction: z.enum(['min', 'max', 'none']),
      help: z.string().optional(),
      of: z.enum(['prediction', 'ensemble']).optional(),
      compute: isFunction,
    }),
  )
  .superRefine((metrics, context) => {
    for (const name of Object.keys(metrics)) {
      const message = whyNotNamed(name, registry);
      if (message !== null) context.addIssue({ code: 'custom', message });
    }
  });

const quantilesSchema = z
  .array(z.number().gt(0).lt(1))
  .min(1)
  .refine(
    (levels) => levels.every((level, i) => i === 0 || level > levels[i - 1]),
    'must be levels in ascending order',
  );

const outputsSchema = z.record(
  outputNameSchema,
  z.strictObject({
    task: z.enum(taskKinds),
    weight: z.number().positive().optional(),
    classCount: z.int().min(2).optional(),
    classNames: z.array(z.string()).min(2).optional(),
    quantiles: quantilesSchema.optional(),
  }),
);

const projectSchema = z.strictObject({
  name: z.string().min(1),
  description: z.string(),
  hyperparameters: z.custom((value) => value instanceof z.ZodObject, 'must be a z.object({...}) schema'),
  task: z.enum(taskKinds),
  defaults: z.record(z.string(), z.unknown()).optional(),
  search: searchSpaceSchema.optional(),
  permissions: permissionsSchema.optional(),
  data: isFunction,
  model: isFunction,
  inputs: isFunction.optional(),
  loss: isFunction.optional(),
  quantiles: quantilesSchema.optional(),
  outputs: outputsSchema.optional(),
  metrics: metricsSchema.optional(),
  callbacks: isFunction.optional(),
  figures: isFunction.optional(),
});

/**
 * Imports a project.
 * @param copy of its scripts, which are loaded instead of those in the folder; null: these
 * @throws when the folder has no project, or its export is not a valid project, with the invalid part
 */
export async function loadProject(folder: string, copy: string | null = null): Promise<Project> {
  const entry = findEntry(folder, copy ?? folder);
  shareOwnCopies();
  keepThreads();
  if (copy !== null) mountSources(folder, copy);
  keepDeepStacks();
  const exported = await importDefault(entry);
  const checked = projectSchema.safeParse(exported);
  if (!checked.success) {
    const issues = checked.error.issues.flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `  ${key}: ${describeUnknownKey(key)}`)
        : `  ${issue.path.join('.') || 'default export'}: ${issue.message}`,
    );
    throw new Error(
      `${entry} does not export a project:\n${issues.join('\n')}\nIt must \`export default ` +
        `defineProject({...})\`; see docs/projects.md.`,
    );
  }
  return exported as Project;
}

function describeUnknownKey(key: string): string {
  const known = Object.keys(projectSchema.shape);
  const guesses = nearest(key, known);
  const remedy =
    guesses.length === 0 ? `A project has ${known.join(', ')}. Remove it.` : `Did you mean ${guesses.join(' or ')}?`;
  return `a project has no such property. ${remedy}`;
}

async function importDefault(entry: string): Promise<unknown> {
  try {
    return defaultOf(await import(pathToFileURL(entry).href));
  } catch (error) {
    const own = [...loadedModules].filter((path) => path.startsWith(dirname(entry)));
    const explained = explainRefusal(withSyntaxPlace(error, own));
    throw new Error(`${entry} could not be loaded: ${messageOf(explained)}`, { cause: error });
  }
}

/** The default export. A compiler that writes CommonJS puts it below `module.exports`. */
function defaultOf(module: { default?: unknown }): unknown {
  const exported = module.default;
  const isCompiled = typeof exported === 'object' && exported !== null && Object.hasOwn(exported, '__esModule');
  return isCompiled ? (exported as { default?: unknown }).default : exported;
}

/** @throws with every value that does not fit the project's schema */
export function parseHyperparameters(
  project: Project,
  values: Record<string, unknown>,
): z.output<HyperparameterSchema> {
  const parsed = z.strictObject(project.hyperparameters.shape).safeParse(values);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `  ${path.join('.') || 'hyperparameters'}: ${message}`);
  throw new Error(`Hyperparameters of project "${project.name}" do not fit its schema:\n${issues.join('\n')}`);
}

function findEntry(folder: string, source: string): string {
  const found = projectEntries.find((name) => existsSync(resolve(source, name)));
  if (found !== undefined) return resolve(folder, found);
  throw new Error(
    `There is no project in ${resolve(folder)}: the folder must hold a project.ts. See docs/projects.md.`,
  );
}

/** What `model` gets to know about the shapes of one sample. */
export function modelShapes({
  featureShape,
  categories = [],
  extraInputs = {},
  targets,
  length,
  targetShape,
}: Dataset) {
  const shapes = Object.entries(extraInputs).map(([name, { shape }]) => [name, shape] as const);
  const columns = targets.length / length;
  return {
    featureShape,
    categories,
    extraInputShapes: Object.fromEntries(shapes),
    targetShape: targetShape ?? (columns === 1 ? [] : [columns]),
  };
}

/**
 * Loads a project's data. Its random numbers depend only on the run's seed, so the data are the same in every process.
 * Classes have the order that the run in `runFolder`, if there is one, began with.
 */
export async function loadProjectData(
  project: Project,
  hyperparameters: Record<string, unknown>,
  { config, dataFolders, runFolder }: Pick<Launch, 'config' | 'dataFolders'> & Partial<Pick<Launch, 'runFolder'>>,
): Promise<Splits> {
  const { folds, fold, foldPerRank } = config.data;
  const asked = folds > 0 && !foldPerRank ? { count: folds, index: fold } : undefined;
  let isFoldRead = false;
  const context = {
    hyperparameters,
    config,
    folders: dataFolders,
    seed: config.seed,
    get fold() {
      isFoldRead = true;
      return asked;
    },
  };
  const { result, notes, readings } = await withNotes(() =>
    load(() => withSeededMathRandom(new Generator(config.seed, 'data'), () => project.data(context))),
  );
  const read = withReading(result, readings);
  const splits = notes.length === 0 ? read : createSplits({ ...read, notes });
  if (asked === undefined || isFoldRead) return runFolder === undefined ? splits : withKeptClasses(splits, runFolder);
  throw new Error(
    `The run is to test on fold ${fold} of ${folds}, but data() of the project "${project.name}" does not read its ` +
      "argument's `fold`. Give it to the function that splits: data({ seed, fold }) { return tableSplits(table, { " +
      'seed, fold, ... }); }.',
  );
}

/**
 * The only table that a project reads is that of its training data, also where the project itself made samples of it.
 */
function withReading(splits: Splits, readings: readonly TableReading[]): Splits {
  const known = preprocessingOf(splits) ?? { format: 1, steps: [] };
  if (readings.length !== 1 || known.reading !== undefined) return splits;
  return createSplits({ ...splits, preprocessing: { ...known, reading: readings[0] } });
}

async function load(data: () => Promise<Splits>): Promise<Splits> {
  try {
    return await data();
  } catch (error) {
    throw explainRefusal(error);
  }
}

/** What a project writes to ask for something that it was refused, by the name of Node's permission. */
const remedies: Record<string, (resource: string) => string> = {
  FileSystemRead: (path) => `read ${path}. If it needs to, let it ask: permissions: { read: ['${path}'] }`,
  FileSystemWrite: (path) => `write ${path}. If it needs to, let it ask: permissions: { write: ['${path}'] }`,
  ChildProcess: () => 'start other programs. If it needs to, let it ask: permissions: { processes: true }',
  WorkerThreads: () => 'start threads. If it needs to, let it ask: permissions: { processes: true }',
};
const network = 'use the network. If it needs to, let it ask: permissions: { network: true }';

/**
 * An error of a project's code that comes from what the project may not do, with the remedy; any other error unchanged.
 * Errors of `fetch` have their reason as their cause.
 */
export function explainRefusal(error: unknown, environment: NodeJS.ProcessEnv = process.env): unknown {
  const refused = findRefusal(error, environment);
  if (refused === null) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\nThe project may not ${refused} (docs/projects.md, Permissions).`, { cause: error });
}

function findRefusal(error: unknown, environment: NodeJS.ProcessEnv): string | null {
  if (!(error instanceof Error)) return null;
  const { code, permission, resource, syscall } = error as NodeJS.ErrnoException & {
    permission?: string;
    resource?: string;
  };
  if (code === 'ERR_ACCESS_DENIED') return remedies[permission ?? '']?.(resource ?? '') ?? null;
  if (['connect', 'getaddrinfo', 'socket', 'bind'].includes(syscall ?? '') && !mayUseNetwork(environment))
    return network;
  return findRefusal(error.cause, environment);
}

function mayUseNetwork(environment: NodeJS.ProcessEnv): boolean {
  const text = environment[confinementVariable];
  return text === undefined || (JSON.parse(text) as Confinement).network;
}

const opening = '(async () => {';

/**
 * Gives an error of syntax its place. V8 tells none for ES modules, so each file is parsed again as a script, with its
 * import and export declarations blanked; the first that gives the same message is the one. Other errors stay as they
 * are.
 * @param files paths of the modules that may have raised it
 */
export function withSyntaxPlace(error: unknown, files: Iterable<string>): unknown {
  if (!(error instanceof SyntaxError) || /^(file:|\/|[A-Za-z]:\\)/.test(error.stack ?? '')) return error;
  for (const file of files) {
    const found = syntaxErrorOf(file);
    if (found?.message !== error.message) continue;
    error.stack = found.stack ?? '';
    return error;
  }
  return error;
}

/** The error of a file's syntax, whose stack begins with the place; null if it has none. */
function syntaxErrorOf(file: string): Error | null {
  const text = readFileSync(file, 'utf8');
  try {
    const code = /\.[cm]?ts$/.test(file) ? nodeModule.stripTypeScriptTypes(text) : text;
    // Compiling runs nothing.
    void new vm.Script(`${opening}${asScript(code)}\n})`, { filename: file, columnOffset: -opening.length });
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

/** The code of a module without its declarations of imports and exports. Everything else keeps its line and column. */
export function asScript(code: string): string {
  return code
    .replaceAll(/^[ \t]*import\b(?!\s*[.(])[^;'"]*(?:'[^'\n]*'|"[^"\n]*")[^\n;]*;?/gm, blank)
    .replaceAll(/^[ \t]*export\s*(?:\*|\{[^}]*\})[^;\n]*;?/gm, blank)
    .replaceAll(/^([ \t]*)export\s+default\b/gm, (text: string) => `${' '.repeat(text.length - 2)}0,`)
    .replaceAll(/^([ \t]*)export\b/gm, blank)
    .replaceAll(/\bimport\.meta\b/g, (text: string) => 'this'.padEnd(text.length));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}
