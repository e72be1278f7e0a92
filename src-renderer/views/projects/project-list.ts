import type { ProjectCard } from '../../../core/protocol/pages/project-views.ts';

/** How the cards are ordered: by the beginning of the last run, or by name. */
export type ProjectOrder = 'used' | 'name';

export interface ProjectSections {
  /** Those that the user opened, or trained from a terminal. */
  own: ProjectCard[];
  examples: ProjectCard[];
  /** Those whose folder is gone; their runs are kept. */
  gone: ProjectCard[];
}

/**
 * The cards that have all words of a search in name, description, task or folder, in any case of letters, in sections.
 */
export function projectSections(cards: readonly ProjectCard[], search: string, order: ProjectOrder): ProjectSections {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = cards.filter(({ name, description, task, folder }) => {
    const text = [name, description, task, folder].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const ordered = found.toSorted(order === 'name' ? byName : byUse);
  return {
    own: ordered.filter(({ isExample, isGone }) => !isExample && !isGone),
    examples: ordered.filter(({ isExample }) => isExample),
    gone: ordered.filter(({ isExample, isGone }) => !isExample && isGone),
  };
}

function byName(left: ProjectCard, right: ProjectCard): number {
  return left.name.localeCompare(right.name, 'en');
}

/** The last used first. Those without a run stay in their order, after the others. */
function byUse(left: ProjectCard, right: ProjectCard): number {
  return (right.lastRun?.startedAt ?? '').localeCompare(left.lastRun?.startedAt ?? '');
}
