import type { ProjectCard } from '../../../core/protocol/pages/project-views.ts';

/** The drawing of a project without a picture: learning curves of an ensemble, as different as the projects. */
export interface Sketch {
  /** SVG paths of the members, in the order of their colours. */
  members: string[];
  /** The path of the ensemble, their mean. */
  ensemble: string;
}

export const sketchSize = { width: 320, height: 152 };

const memberCount = 4;
const points = 24;
/** Pixels that stay free on all sides. */
const margin = { left: 20, right: 20, top: 24, bottom: 24 };

/**
 * Curves that fall as e^(−rate · t) and wobble, drawn from a hash of a text, so that a project always has the same
 * ones. They decorate and show no data.
 */
export function sketchOf(text: string): Sketch {
  const draw = hashedNumbers(text);
  const rate = 2 + 3 * draw();
  const curves = Array.from({ length: memberCount }, () => {
    const [level, amplitude, frequency, phase] = [0.3 * draw(), 0.03 + 0.05 * draw(), 4 + 8 * draw(), 7 * draw()];
    return Array.from({ length: points }, (_, index) => {
      const time = index / (points - 1);
      const wobble = amplitude * Math.sin(frequency * time + phase) * time;
      return Math.exp(-rate * time) * (0.7 + level) + level * time * 0.5 + wobble;
    });
  });
  const mean = curves[0].map((_, index) => curves.reduce((sum, curve) => sum + curve[index], 0) / memberCount - 0.04);
  return { members: curves.map(pathOf), ensemble: pathOf(mean) };
}

function pathOf(heights: readonly number[]): string {
  const { width, height } = sketchSize;
  return heights
    .map((value, index) => {
      const left = margin.left + ((width - margin.left - margin.right) * index) / (points - 1);
      const share = Math.min(Math.max(value, 0), 1);
      const top = margin.top + (height - margin.top - margin.bottom) * (1 - share);
      return `${index === 0 ? 'M' : 'L'}${left.toFixed(1)} ${top.toFixed(1)}`;
    })
    .join('');
}

/** Numbers from 0 to 1 that depend on a text alone (FNV-1a, then a linear congruential generator). */
function hashedNumbers(text: string): () => number {
  let state = 0x811c9dc5;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How the cards are ordered: by the beginning of the last run, or by name. */
type ProjectOrder = 'used' | 'name';

interface ProjectSections {
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
