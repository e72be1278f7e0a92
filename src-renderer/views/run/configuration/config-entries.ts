import type { OptionDescription } from '../../../../core/options/index.ts';
import type { RunConfig } from '../../../../core/protocol/run/config.ts';
import { leavesOf } from '../../../../core/options/index.ts';

/** One option of a run's configuration and its default. */
export interface ConfigEntry {
  /** `earlyStopping.patience`. */
  path: string;
  value: unknown;
  /** Undefined where the defaults lack the option, as for another optimizer. */
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
