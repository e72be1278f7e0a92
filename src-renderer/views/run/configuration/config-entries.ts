import type { OptionDescription } from '../../../../core/options/index.ts';
import type { RunConfig } from '../../../../core/protocol/run/config.ts';

/** One leaf of a run's configuration beside what it would be by default. */
export interface ConfigEntry {
  /** `earlyStopping.patience`. */
  path: string;
  value: unknown;
  /** Undefined where the defaults have no such option (that of another optimizer, say). */
  standard: unknown;
  isChanged: boolean;
  help: string;
  unit: string | null;
}

/** Every option of a run, in the order of the configuration. */
export function configEntries(
  config: RunConfig,
  defaults: RunConfig,
  options: readonly OptionDescription[],
): ConfigEntry[] {
  const standards = new Map(leavesOf(defaults));
  const descriptions = new Map(options.map((option) => [option.path, option]));
  return leavesOf(config).map(([path, value]) => {
    const standard = standards.get(path);
    const description = descriptions.get(path);
    return {
      path,
      value,
      standard,
      isChanged: JSON.stringify(value) !== JSON.stringify(standard),
      help: description?.help ?? '',
      unit: description?.unit ?? null,
    };
  });
}

/** A value as the terminal would take it: `adam`, `true`, `[0,2]`. */
export function spellValue(value: unknown): string {
  if (value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function leavesOf(value: object, path = ''): [path: string, value: unknown][] {
  return Object.entries(value).flatMap(([key, child]: [string, unknown]): [string, unknown][] => {
    const childPath = path === '' ? key : `${path}.${key}`;
    const hasMembers = typeof child === 'object' && child !== null && !Array.isArray(child);
    return hasMembers ? leavesOf(child, childPath) : [[childPath, child]];
  });
}
