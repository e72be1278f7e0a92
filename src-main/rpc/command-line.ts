import { getPath, type OptionDescription } from '../../protocol/options.ts';
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
  const defaults = resolveConfig(project, []);
  const options = settingsOf(project).flatMap((setting) => {
    const [description] = setting.variants;
    const path = setting.path.split('.');
    const value = getPath(config, path);
    if (value === undefined || spell(value, description) === spell(getPath(defaults, path), description)) return [];
    const text = spell(value, description);
    return hasFlag(setting) ? [setting.flag, quote(text)] : ['--set', quote(`${setting.path}=${text}`)];
  });
  const named = name === null ? [] : ['--name', quote(name)];
  return ['npx tutti train', quote(projectFolder), ...options, ...named].join(' ');
}

/** As the terminal reads it back. */
function spell(value: unknown, { type }: OptionDescription): string {
  if (typeof value === 'string') return value;
  return type === 'device-selection' && Array.isArray(value) ? value.join(',') : JSON.stringify(value);
}

/** For POSIX shells: what holds nothing special stays as it is. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
