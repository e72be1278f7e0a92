import { type Ref, shallowRef, watch } from 'vue';
import type { ProjectCard } from '../../core/protocol/pages/project-views.ts';
import { useHub } from '../client/use-hub.ts';
import { type Loaded, useLoaded } from './use-loaded.ts';
import { messageOf } from '../../core/text/errors.ts';

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
