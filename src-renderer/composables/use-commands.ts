import { computed, type ComputedRef } from 'vue';
import { useRouter } from 'vue-router';
import { formatTime } from '../text/format.ts';
import { useRunsStore } from '../stores/runs.ts';
import { themes, useSettingsStore } from '../stores/settings.ts';
import type { Command } from './find-commands.ts';
import { useProjectCards } from './use-project-cards.ts';

/** All that the command palette offers, from what the hub has at the moment. */
export function useCommands(): ComputedRef<Command[]> {
  const router = useRouter();
  const runs = useRunsStore();
  const settings = useSettingsStore();
  const { data: projects } = useProjectCards();

  const pages = ['projects', 'runs', 'settings'].map((name): Command => ({
    id: `page/${name}`,
    group: 'Pages',
    label: name[0].toUpperCase() + name.slice(1),
    detail: '',
    run: () => void router.push({ name }),
  }));
  const themeCommands = themes.map((theme): Command => ({
    id: `theme/${theme}`,
    group: 'Theme',
    label: `Theme: ${theme}`,
    detail: '',
    run: () => (settings.theme = theme),
  }));

  return computed(() => [
    ...pages,
    ...(projects.value ?? []).map(({ folder, name, task }): Command => ({
      id: `project/${folder}`,
      group: 'Projects',
      label: `Train ${name}`,
      detail: task,
      run: () => void router.push({ name: 'configure', query: { project: folder } }),
    })),
    ...(runs.rows ?? []).map(({ id, name, project, status, createdAt }): Command => ({
      id: `run/${id}`,
      group: 'Runs',
      label: name,
      detail: [...(project === name ? [] : [project]), status, formatTime(createdAt)].join(', '),
      run: () => void router.push({ name: 'run', params: { id } }),
    })),
    ...themeCommands,
  ]);
}
