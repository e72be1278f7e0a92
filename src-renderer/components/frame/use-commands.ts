import { computed, type ComputedRef, type Ref, watch } from 'vue';
import { type Router, useRouter } from 'vue-router';
import type { ProjectCard } from '../../../core/protocol/pages/project-views.ts';
import type { RunRow } from '../../../core/protocol/pages/run-list.ts';
import { formatTime } from '../basic/format.ts';
import { useSessionStore } from '../../stores/session.ts';
import { useHub } from '../../client/use-hub.ts';
import { useLoaded } from '../../composables/use-loaded.ts';
import { themes, useSettingsStore } from '../../stores/settings.ts';
import { useProjectCards } from '../../composables/use-projects.ts';

/** Something that the command palette finds. */
export interface Command {
  id: string;
  group: 'Pages' | 'Projects' | 'Runs' | 'Theme';
  label: string;
  detail: string;
  run(): void;
}

const pageTitles = {
  projects: 'Projects',
  runs: 'Runs',
  studies: 'Studies',
  settings: 'Settings',
  create: 'New from data',
};

/** The page of runs, with the dialog that attaches to a remote one. */
export const attachPage = { name: 'runs', query: { attach: 'remote' } };

/** Commands that contain every word of the query, the earliest match first; at most `limit`. */
export function findCommands(commands: readonly Command[], query: string, limit: number): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return commands
    .map((command) => ({ command, text: `${command.label} ${command.detail} ${command.group}`.toLowerCase() }))
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .sort((a, b) => a.text.indexOf(words[0] ?? '') - b.text.indexOf(words[0] ?? ''))
    .slice(0, limit)
    .map(({ command }) => command);
}

/**
 * The palette's commands for a query: pages, attaching to a remote run, projects, the newest runs that match, and
 * themes; at most `limit`.
 */
export function useCommands(query: Ref<string>, limit: number): ComputedRef<Command[]> {
  const router = useRouter();
  const hub = useHub();
  const found = useLoaded(() => hub.runs({ search: query.value, limit }));
  watch(query, () => void found.reload());
  const settings = useSettingsStore();
  const session = useSessionStore();
  const { data: projects } = useProjectCards();

  const pages = Object.entries(pageTitles).map(([name, label]): Command => ({
    id: `page/${name}`,
    group: 'Pages',
    label,
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

  const attach: Command = {
    id: 'attach',
    group: 'Runs',
    label: 'Attach to a remote run…',
    detail: 'by ssh',
    run: () => void router.push(attachPage),
  };

  const all = computed(() => [
    ...pages,
    ...(session.isOwner ? [attach] : []),
    ...(projects.value ?? []).filter(({ isGone }) => !isGone).map((project) => trainCommand(project, router)),
    ...(found.data.value?.rows ?? []).map((run) => runCommand(run, router)),
    ...themeCommands,
  ]);
  return computed(() => findCommands(all.value, query.value, limit));
}

function trainCommand({ folder, name, task }: ProjectCard, router: Router): Command {
  return {
    id: `project/${folder}`,
    group: 'Projects',
    label: `Train ${name}`,
    detail: task,
    run: () => void router.push({ name: 'configure', query: { project: folder } }),
  };
}

function runCommand({ id, name, project, status, createdAt }: RunRow, router: Router): Command {
  return {
    id: `run/${id}`,
    group: 'Runs',
    label: name,
    detail: [...(project === name ? [] : [project]), status, formatTime(createdAt)].join(', '),
    run: () => void router.push({ name: 'run', params: { id } }),
  };
}
