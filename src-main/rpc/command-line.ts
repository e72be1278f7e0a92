import { getPath, type OptionDescription, type PlainObject, setPath } from '../../protocol/options.ts';
import type { ProjectDescription } from '../../protocol/project-description.ts';
import type { RunRequest } from '../../protocol/rpc.ts';
import type { RunConfig } from '../../protocol/run-config.ts';
import { hasFlag, settingsOf } from '../cli/arguments.ts';
import { resolveConfig } from '../runs/resolve-config.ts';

/** The command that starts the same run from a terminal, with only what differs from the project's defaults. */
export function commandLine(
  project: ProjectDescription,
  { projectFolder, name }: RunRequest,
  config: RunConfig,
): string {
  const settings = settingsOf(project);
  const defaults = resolveConfig(project, []);
  // Another kind of optimizer, say, brings defaults of its own.
  const kinds = settings.map(({ path }) => path).filter((path) => path.endsWith('.kind'));
  const chosen = kinds.reduce<PlainObject>((so, path) => setPath(so, path, getPath(config, path.split('.'))), {});
  const ofKinds = resolveConfig(project, [chosen]);
  const options = settings.flatMap((setting) => {
    const [description] = setting.variants;
    const path = setting.path.split('.');
    const text = spell(getPath(config, path), description);
    const standard = kinds.includes(setting.path) ? defaults : ofKinds;
    if (text === undefined || text === spell(getPath(standard, path), description)) return [];
    return hasFlag(setting) ? [setting.flag, quote(text)] : ['--set', quote(`${setting.path}=${text}`)];
  });
  const named = name === null ? [] : ['--name', quote(name)];
  return ['npx tutti train', quote(projectFolder), ...options, ...named].join(' ');
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
