import { getPath, type OptionDescription, type PlainObject, setPath } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunRequest } from '../../../core/protocol/pages/rpc.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { hasFlag, type Setting, settingsOf } from '../../cli/arguments.ts';
import { changeConfig, resolveConfig } from '../../runs/configuration/resolve-config.ts';

/** The command that starts the same run from a terminal, with only what differs from the project's defaults. */
export function commandLine(
  project: ProjectDescription,
  { projectFolder, name, out }: RunRequest,
  config: RunConfig,
): string {
  const changes = changesTo(config, settingsOf(project), (kinds) => resolveConfig(project, [kinds]));
  const options = changes.flatMap(({ setting, text }) =>
    hasFlag(setting) ? [setting.flag, quote(text)] : assignment(setting, text),
  );
  const named = name === null ? [] : ['--name', quote(name)];
  const placed = out === null ? [] : ['--out', quote(out)];
  return ['npx tutti train', quote(projectFolder), ...options, ...named, ...placed].join(' ');
}

/** The command that goes on with a run from a terminal, with what is changed of its configuration. */
export function resumeCommandLine(id: string, overrides: PlainObject): string {
  const changes = settingsOf(null).flatMap((setting) => {
    const text = spell(getPath(overrides, setting.path.split('.')), setting.variants[0]);
    return text === undefined ? [] : assignment(setting, text);
  });
  return ['npx tutti resume', quote(id), ...changes].join(' ');
}

/** What turns one configuration into another, as a layer over the first. */
export function changesBetween(before: RunConfig, config: RunConfig): PlainObject {
  const changes = changesTo(config, settingsOf(null), (kinds) => changeConfig(before, kinds));
  return changes.reduce<PlainObject>(
    (so, { setting: { path } }) => setPath(so, path, getPath(config, path.split('.'))),
    {},
  );
}

/**
 * What turns a standard configuration into this one, as texts. Another kind of optimizer, say, brings defaults of its own, so the standard
 * is asked for with the kinds that are wanted.
 */
function changesTo(
  config: RunConfig,
  settings: readonly Setting[],
  standardWith: (kinds: PlainObject) => RunConfig,
): { setting: Setting; text: string }[] {
  const kinds = settings.map(({ path }) => path).filter((path) => path.endsWith('.kind'));
  const chosen = kinds.reduce<PlainObject>((so, path) => setPath(so, path, getPath(config, path.split('.'))), {});
  const [standard, ofKinds] = [standardWith({}), standardWith(chosen)];
  return settings.flatMap((setting) => {
    const [description] = setting.variants;
    const path = setting.path.split('.');
    const text = spell(getPath(config, path), description);
    const usual = spell(getPath(kinds.includes(setting.path) ? standard : ofKinds, path), description);
    return text === undefined || text === usual ? [] : [{ setting, text }];
  });
}

function assignment({ path }: Setting, text: string): string[] {
  return ['--set', quote(`${path}=${text}`)];
}

/** As the terminal reads it back; undefined where there is nothing to read. */
function spell(value: unknown, { type }: OptionDescription): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  return type === 'device-selection' && Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

/** For POSIX shells: what holds nothing special stays as it is. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
