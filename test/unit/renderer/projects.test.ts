import { describe, expect, it } from 'vitest';
import type { ProjectCard } from '../../../core/protocol/pages/project-views.ts';
import { projectSections, sketchOf, sketchSize } from '../../../src-renderer/views/projects/project-cards.ts';

function card(name: string, startedAt: string | null, changes: Partial<ProjectCard> = {}): ProjectCard {
  return {
    folder: `/projects/${name}`,
    name,
    description: '',
    task: 'regression',
    isDescribed: true,
    isExample: false,
    isTrusted: true,
    warning: null,
    asks: [],
    error: null,
    isOpened: true,
    isGone: false,
    lastRun:
      startedAt === null
        ? null
        : { id: name, status: 'finished', notFinite: null, best: null, startedAt, endedAt: null },
    ...changes,
  };
}

describe('the sections of the page Projects', () => {
  const cards = [
    card('00_sine', null, { isExample: true }),
    card('01_joint', '2026-01-03T00:00:00.000Z', { isExample: true }),
    card('wine', '2026-01-01T00:00:00.000Z', { description: 'Quality of red wine' }),
    card('new', null),
    card('blobs', '2026-01-02T00:00:00.000Z', { task: 'classification' }),
    card('lost', '2026-01-04T00:00:00.000Z', { isGone: true }),
  ];
  const names = (search: string, order: 'used' | 'name') => {
    const { own, examples, gone } = projectSections(cards, search, order);
    return [own, examples, gone].map((section) => section.map(({ name }) => name));
  };

  it('have the last used first, and then those without a run in their order', () => {
    expect(names('', 'used')).toEqual([['blobs', 'wine', 'new'], ['01_joint', '00_sine'], ['lost']]);
    expect(names('', 'name')).toEqual([['blobs', 'new', 'wine'], ['00_sine', '01_joint'], ['lost']]);
  });

  it('are searched by all words in name, description, task and folder', () => {
    expect(names('RED wine', 'used')).toEqual([['wine'], [], []]);
    expect(names('projects/blo classification', 'used')).toEqual([['blobs'], [], []]);
    expect(names('absent', 'used')).toEqual([[], [], []]);
  });
});

describe('the sketch of a project without a picture', () => {
  it('is always the same for one folder, and differs between folders', () => {
    expect(sketchOf('/projects/wine')).toEqual(sketchOf('/projects/wine'));
    expect(sketchOf('/projects/wine').ensemble).not.toBe(sketchOf('/projects/blobs').ensemble);
  });

  it('has four members and an ensemble within its box', () => {
    const { members, ensemble } = sketchOf('/projects/wine');
    expect(members).toHaveLength(4);
    for (const path of [...members, ensemble]) {
      const numbers = [...path.matchAll(/[\d.]+/g)].map(([text]) => Number(text));
      expect(numbers).toHaveLength(48);
      expect(Math.max(...numbers.filter((_, index) => index % 2 === 0))).toBeLessThanOrEqual(sketchSize.width);
      expect(Math.max(...numbers.filter((_, index) => index % 2 === 1))).toBeLessThanOrEqual(sketchSize.height);
    }
  });
});
