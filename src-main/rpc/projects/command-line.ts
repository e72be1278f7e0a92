import { tutti } from '../../../core/text/program.ts';
import { getPath, type OptionDescription, type PlainObject, setPath } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import type { AttemptCommand } from '../../../core/protocol/pages/run-views.ts';
import type { RunRequest } from '../../../core/protocol/pages/project-views.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { Assignment } from '../../../core/studies/space/space.ts';
import { configOfAttempt } from '../../../core/protocol/run/record.ts';
import type { Hub } from '../../hub/hub.ts';
import { hasFlag, type RunFlag, runFlagsOf } from '../../runs/configuration/run-flags.ts';
import { changeConfig, resolveConfig } from '../../runs/configuration/resolve-config.ts';
import type { Projects } from './projects.ts';

/**
 * The command behind each attempt of a run: first the command that starts a run like it, or that forks its origin, then
 * one for each resume. Restarts have no command.
 * @throws Error if the project cannot be described, because the first command leaves out the project's defaults
 */
export async function attemptCommands(hub: Hub, projects: Projects, id: string): Promise<AttemptCommand[]> {
  const record = await hub.record(id);
  const { folder } = record.project;
  const project = await projects.describe(folder);
  return record.attempts.flatMap((attempt, index) => {
    const config = configOfAttempt(record, attempt);
    if (attempt.kind === 'restart') return [];
    const { origin, name } = record;
    if (attempt.kind === 'fork' && origin !== undefined) {
      const fork = { run: origin.run, point: origin.point, name, out: null };
      return [{ attempt: attempt.attempt, command: forkCommandLine(fork, attempt.overrides ?? {}) }];
    }
    const request = { projectFolder: folder, overrides: {}, name, out: null };
    const isFirst = index === 0 || attempt.overrides === undefined;
    const command = isFirst
      ? commandLine(project, request, config)
      : resumeCommandLine(record.id, attempt.overrides ?? {});
    return [{ attempt: attempt.attempt, command }];
  });
}

/** The command that starts the same run from a terminal. It only names what differs from the project's defaults. */
export function commandLine(
  project: ProjectDescription,
  { projectFolder, name, out, repeat }: RunRequest,
  config: RunConfig,
): string {
  const changes = changesTo(config, runFlagsOf(project), (kinds) => resolveConfig(project, [kinds]));
  const options = changes.flatMap(({ flag, text }) =>
    hasFlag(flag) ? [flag.flag, quote(text)] : assignment(flag, text),
  );
  const seeds = repeat === undefined ? [] : ['--repeat', String(repeat)];
  return [`${tutti} train`, quote(projectFolder), ...options, ...place(name, out), ...seeds].join(' ');
}

/** The command that trains a configuration of a study from a terminal, on the data that the project itself chooses. */
export function trialCommandLine(
  { project, overrides }: Pick<Study, 'project' | 'overrides'>,
  values: Assignment,
): string {
  const paths = new Set(runFlagsOf(null).map(({ path }) => path));
  const { hyperparameters, ...options } = overrides;
  const entries = Object.entries(values);
  const ofRuns = entries.filter(([path]) => paths.has(path));
  const chosen = ofRuns.reduce((layer, [path, value]) => setPath(layer, path, value), options);
  // The names of a project's hyperparameters are known to the project alone; the terminal takes them too.
  const own = new Map([...Object.entries(hyperparameters ?? {}), ...entries.filter(([path]) => !paths.has(path))]);
  const others = [...own].flatMap(([name, value]) => ['--set', quote(`${name}=${plain(value)}`)]);
  return [`${tutti} train`, quote(project.folder), ...assignments(chosen), ...others].join(' ');
}

/** The command that resumes a run from a terminal with changes to its configuration. */
export function resumeCommandLine(id: string, overrides: PlainObject, currentSource = false): string {
  return [`${tutti} resume`, quote(id), ...assignments(overrides), ...codeFlag(currentSource)].join(' ');
}

interface ForkCommand {
  run: string;
  point: string;
  name: string | null;
  out: string | null;
  currentSource?: boolean | undefined;
}

/** The command that forks a run at one of its points from a terminal. */
export function forkCommandLine(
  { run, point, name, out, currentSource = false }: ForkCommand,
  overrides: PlainObject,
): string {
  const start = [`${tutti} fork`, quote(run), '--at', quote(point)];
  return [...start, ...assignments(overrides), ...place(name, out), ...codeFlag(currentSource)].join(' ');
}

function codeFlag(currentSource: boolean): string[] {
  return currentSource ? ['--current-source'] : [];
}

function assignments(overrides: PlainObject): string[] {
  return runFlagsOf(null).flatMap((flag) => {
    const text = spell(getPath(overrides, flag.path.split('.')), flag.variants[0]);
    return text === undefined ? [] : assignment(flag, text);
  });
}

function place(name: string | null, out: string | null): string[] {
  return [...(name === null ? [] : ['--name', quote(name)]), ...(out === null ? [] : ['--out', quote(out)])];
}

/** The changes that turn one configuration into another, as a layer over the first. */
export function changesBetween(before: RunConfig, config: RunConfig): PlainObject {
  const changes = changesTo(config, runFlagsOf(null), (kinds) => changeConfig(before, kinds));
  return changes.reduce<PlainObject>(
    (layer, { flag: { path } }) => setPath(layer, path, getPath(config, path.split('.'))),
    {},
  );
}

/**
 * The changes that turn a standard configuration into this one, as texts. Each kind of a union, such as the optimizer,
 * has its own defaults, so the standard configuration is taken with the kinds of this one.
 */
function changesTo(
  config: RunConfig,
  flags: readonly RunFlag[],
  standardWith: (kinds: PlainObject) => RunConfig,
): { flag: RunFlag; text: string }[] {
  const kinds = flags.map(({ path }) => path).filter((path) => path.endsWith('.kind'));
  const chosen = kinds.reduce<PlainObject>((layer, path) => setPath(layer, path, getPath(config, path.split('.'))), {});
  const [standard, ofKinds] = [standardWith({}), standardWith(chosen)];
  return flags.flatMap((flag) => {
    const [description] = flag.variants;
    const path = flag.path.split('.');
    const text = spell(getPath(config, path), description);
    const usual = spell(getPath(kinds.includes(flag.path) ? standard : ofKinds, path), description);
    return text === undefined || text === usual ? [] : [{ flag, text }];
  });
}

function assignment({ path }: RunFlag, text: string): string[] {
  return ['--set', quote(`${path}=${text}`)];
}

/** A value as the terminal parses it; undefined for an absent value. */
function spell(value: unknown, { type }: OptionDescription): string | undefined {
  if (value === undefined) return value;
  return type === 'device-selection' && Array.isArray(value) ? value.join(',') : plain(value);
}

/** A text as it is, another value in JSON. */
function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Quotes a word for POSIX shells if it contains special characters. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
