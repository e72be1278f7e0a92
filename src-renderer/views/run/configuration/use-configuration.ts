import { computed, type ComputedRef, watch } from 'vue';
import { describeOptions } from '../../../../core/options/index.ts';
import type { AttemptCommand, RunView } from '../../../../core/protocol/pages/rpc.ts';
import { runConfigSchema } from '../../../../core/protocol/run/config.ts';
import { useHub } from '../../../client/use-hub.ts';
import { type Loaded, useLoaded } from '../../../composables/use-loaded.ts';
import { type ConfigEntry, configEntries } from './config-entries.ts';

export interface Configuration {
  /** Whether it is known what the defaults are: the project has told its own, or cannot. */
  isCompared: ComputedRef<boolean>;
  changed: ComputedRef<ConfigEntry[]>;
  all: ComputedRef<ConfigEntry[]>;
  /** What "default" means here. */
  standard: ComputedRef<'project' | 'general'>;
  /** The same attempts from the terminal. */
  commands: Loaded<AttemptCommand[]>;
}

/** A run's configuration beside the defaults of its project; those of Tutti where the project is no longer there. */
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
  const commands = useLoaded(() => hub.attemptCommands(view().record.id));
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
