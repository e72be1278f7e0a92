import { defineStore } from 'pinia';
import { useRouter } from 'vue-router';
import { type ChosenFolder, sendInParts, type UploadProgress } from '../client/upload.ts';
import { useHub } from '../client/use-hub.ts';
import { useToastsStore } from '../stores/toasts.ts';
import { computed, type ComputedRef, type Ref, type ShallowRef, shallowRef, watch } from 'vue';
import { formatBytes } from '../../core/text/numbers.ts';
import { useSessionStore } from '../stores/session.ts';
import type { ProjectCard } from '../../core/protocol/pages/project-views.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';
import { messageOf } from '../../core/text/errors.ts';

/**
 * Opens what a path leads to and shows it: a project's form, or its card if the user has not trusted it yet; a run's
 * page, also of an exported run, which is imported; the page that makes a project from a table or a folder of images.
 * The returned function throws if there is nothing to open.
 */
export function useOpenPath(): (path: string) => Promise<void> {
  const hub = useHub();
  const router = useRouter();
  const showRun = useShowImported();
  return async (path) => {
    const opened = await hub.openPath(path);
    if (opened.kind === 'data') return void (await router.push({ name: 'create', query: { path: opened.path } }));
    if (opened.kind === 'run') return showRun(opened.id, opened.isImported ? 'imported' : 'opened');
    const { isTrusted, folder } = opened.project;
    await router.push(
      isTrusted ? { name: 'configure', query: { project: folder } } : { name: 'projects', query: { opened: folder } },
    );
  };
}

/**
 * Imports an exported run and shows it. The desktop app's hub reads the file; a browser sends it. The returned function
 * throws if it is none.
 */
export function useImportRun(): (file: File, progress?: UploadProgress) => Promise<void> {
  const hub = useHub();
  const bridge = window.tutti;
  const openPath = useOpenPath();
  const showRun = useShowImported();
  return async (file, progress) => {
    if (bridge !== undefined) return openPath(bridge.pathOf(file));
    const upload = await sendInParts(hub, { ending: 'zip', file }, progress);
    const { id, isNew } = await hub.importRun({ upload, name: file.name });
    return showRun(id, isNew ? 'imported' : 'present');
  };
}

/** A file or folder of data for the page "New from data", which takes it: one that was dropped on any page. */
export const useGivenFileStore = defineStore('given-file', () => {
  const file = shallowRef<File | ChosenFolder | null>(null);
  function take(): File | ChosenFolder | null {
    const own = file.value;
    file.value = null;
    return own;
  }
  return { file, take };
});

function useShowImported(): (id: string, how: 'imported' | 'present' | 'opened') => Promise<void> {
  const router = useRouter();
  const toasts = useToastsStore();
  return async (id, how) => {
    await router.push({ name: 'run', params: { id } });
    if (how === 'imported') toasts.tell('The run was imported.');
    if (how === 'present') toasts.tell('This run was here already. Nothing was imported.');
  };
}

interface ChosenFile {
  file: ShallowRef<File | null>;
  /** Why a page cannot send it; null where it can. */
  problem: ComputedRef<string | null>;
  /** Takes the choice of an input. */
  choose(event: Event): void;
}

/**
 * A file that the user chooses.
 * @param limitBytes what a page sends at most; Infinity where nothing is sent
 * @param command of the terminal that takes larger ones
 */
export function useChosenFile(limitBytes: number, command: string): ChosenFile {
  const session = useSessionStore();
  const file = shallowRef<File | null>(null);
  const problem = computed(() => {
    if (file.value === null || file.value.size <= limitBytes) return null;
    const { name, size } = file.value;
    return (
      `${name} has ${formatBytes(size)}; a page sends at most ${formatBytes(limitBytes)}. Import it with ` +
      `${session.program} ${command}.`
    );
  });
  function choose(event: Event): void {
    file.value = (event.target as HTMLInputElement).files?.item(0) ?? null;
  }
  return { file, problem, choose };
}

/** Describing a project uses one core for about a second. */
const describedAtOnce = 2;

/**
 * The cards of all projects: at once with their folders' names, then those of trusted projects one by one with their
 * descriptions.
 */
export function useProjectCards(): Loaded<ProjectCard[]> & { replace(card: ProjectCard): void } {
  const hub = useHub();
  const cards: Ref<ProjectCard[] | null> = shallowRef(null);
  const loaded = useLoaded(() => hub.projects());
  const { data } = loaded;

  /** Describes waiting projects until none is left or a newer list arrives. */
  async function describe(list: readonly ProjectCard[], waiting: ProjectCard[]): Promise<void> {
    for (;;) {
      const card = waiting.shift();
      if (card === undefined || data.value !== list) return;
      const described = await hub.projectCard(card.folder).catch((error: unknown) => withError(card, error));
      if (data.value === list) replace(described);
    }
  }

  function replace(described: ProjectCard): void {
    cards.value = cards.value?.map((card) => (card.folder === described.folder ? described : card)) ?? null;
  }

  watch(data, (list) => {
    cards.value = list;
    if (list === null) return;
    const waiting = list.filter(({ isDescribed, isTrusted, isGone }) => !isDescribed && isTrusted && !isGone);
    for (let lane = 0; lane < describedAtOnce; lane += 1) void describe(list, waiting);
  });
  return { ...loaded, data: cards, replace };
}

function withError(card: ProjectCard, error: unknown): ProjectCard {
  return { ...card, isDescribed: true, error: messageOf(error) };
}
