import { computed, type ComputedRef, watch } from 'vue';
import { describeOptions } from '../../../../core/options/index.ts';
import type { AttemptCommand, RunView } from '../../../../core/protocol/pages/run-views.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import { configEntries, type ConfigEntry } from './config-history.ts';

export interface Configuration {
  /** Whether the defaults are known: the project described them or could not. */
  isCompared: ComputedRef<boolean>;
  changed: ComputedRef<ConfigEntry[]>;
  all: ComputedRef<ConfigEntry[]>;
  /** Whose defaults these are. */
  standard: ComputedRef<'project' | 'general'>;
  /** The command lines that repeat the attempts. */
  commands: Loaded<AttemptCommand[]>;
}

/** A run's configuration and the defaults of its project; Tutti's defaults where the project no longer exists. */
export function useConfiguration(view: () => RunView): Configuration {
  const hub = useHub();
  const { folder } = view().record.project;
  const project = useLoaded(() => hub.describeProject(folder));

  const all = computed(() => {
    const { config } = view().record;
    const described = project.data.value;
    return described === null
      ? configEntries(config, runConfigSchema.parse({}), describeOptions(runConfigSchema))
      : configEntries(config, described.defaults, described.options);
  });
  const commands = useLoaded(() => hub.attemptCommands(view().row.id));
  watch(
    () => view().record.attempts.length,
    () => void commands.reload(),
  );

  return {
    isCompared: computed(() => project.data.value !== null || project.error.value !== null),
    all,
    changed: computed(() => all.value.filter(({ isChanged }) => isChanged)),
    standard: computed(() => (project.data.value === null ? 'general' : 'project')),
    commands,
  };
}
