import { describe, expect, it } from 'vitest';
import type { DiscoverySummary, DiscoveryView } from '../../core/protocol/pages/discovery-views.ts';
import DiscoveriesPage from '../../src-renderer/views/discover/DiscoveriesPage.vue';
import DiscoveryPage from '../../src-renderer/views/discover/DiscoveryPage.vue';
import { hitLines } from '../../src-renderer/views/discover/hit-lines.ts';
import { searchOf } from '../unit/discovery/records.ts';
import { mountPage } from './mount-page.ts';

const batch = { scores: [0.9, NaN], means: [0.8, 0.5], deviations: [0.1, 0.25] };
const view: DiscoveryView = {
  search: searchOf({ name: 'Screen', rounds: 3 }),
  folder: '/home/discoveries/test',
  candidates: 1000,
  pool: { candidates: 1000, hits: 50, started: 2, hitsAtStart: 1 },
  arms: [
    { arm: 'ucb', rounds: 2, hits: [0, 1, 2, 2, 3, 3] },
    { arm: 'random', rounds: 1, hits: [0, 1, 1, 1] },
  ],
  choices: [
    { round: 1, indices: [7, 9], ...batch, labels: [1, 0], isHit: [true, false], texts: { smiles: ['CCO', 'C#N'] } },
    { round: 2, indices: [3, 4], ...batch, labels: [1, null], isHit: [true, null], texts: { smiles: ['C', 'N'] } },
  ],
  excluded: ['Row 2 of "screen" is no SMILES.'],
};

describe('the lines of hits', () => {
  it('are those of the arms, of labels at random and of a search that knew the hits', () => {
    const lines = hitLines(view);
    expect(lines.map(({ label, color }) => [label, color])).toEqual([
      ['ucb', 'text'],
      ['random', 'rank-0'],
      ['at random, expected', 'rank-6'],
      ['ideal', 'rank-7'],
    ]);
    const [ucb, , random, ideal] = lines;
    expect([...ucb.x]).toEqual([1, 2, 3, 4, 5, 6]);
    // It ends where it leaves the chart.
    expect([...ideal.x]).toEqual([2, 3, 4]);
    expect([...ideal.y]).toEqual([1, 2, 3]);
    // 49 hits among 998 candidates are left.
    expect(random.y[4]).toBeCloseTo(1 + (4 * 49) / 998, 12);
    expect(hitLines({ ...view, pool: null })).toHaveLength(2);
  });
});

describe('the page of a search', () => {
  it('shows hits, enrichment, what was chosen in each round, and what was left out', async () => {
    const { wrapper } = await mountPage(DiscoveryPage, { props: { id: 'test' } }, { discovery: () => view });
    const cells = (table: number) => {
      const rows = wrapper.findAll('table')[table].findAll('tbody tr');
      return rows.map((row) => row.findAll('th, td').map((cell) => cell.text()));
    };
    expect(wrapper.get('[role=img]').attributes('aria-label')).toBe(
      'Hits: ucb 3 hits among 6 labels, random 1 hits among 4 labels.',
    );
    expect(cells(0)).toEqual([
      ['ucb', '2 of 3', '6', '3', '10'],
      ['random', '1 of 3', '4', '1', '5'],
    ]);
    expect(cells(1)).toEqual([
      ['3', 'C', '0.9000', '0.8000', '0.1000', '1', 'hit'],
      ['4', 'N', 'NaN', '0.5000', '0.2500', '-', 'asked'],
    ]);
    await wrapper.get('input[type=range]').setValue('1');
    expect(cells(1)[1]).toEqual(['9', 'C#N', 'NaN', '0.5000', '0.2500', '0', 'no hit']);
    expect(wrapper.text()).toContain('Row 2 of "screen" is no SMILES.');
  });

  it('says how a search without a round goes on, and why one cannot be shown', async () => {
    const none = await mountPage(
      DiscoveryPage,
      { props: { id: 'x' } },
      { discovery: () => ({ ...view, choices: [] }) },
    );
    expect(none.wrapper.text()).toContain('tutti discover --resume x');
    const discovery = () => Promise.reject(new Error('There is no search "x".'));
    const failed = await mountPage(DiscoveryPage, { props: { id: 'x' } }, { discovery });
    expect(failed.wrapper.text()).toContain('There is no search "x".');
  });
});

describe('the list of searches', () => {
  it('links to each, with the hits of its arms', async () => {
    const arms = [
      { arm: 'ucb', rounds: 2, labels: 6, hits: 3 },
      { arm: 'random', rounds: 1, labels: 4, hits: 1 },
    ];
    const row: DiscoverySummary = {
      id: 'test',
      name: 'Screen',
      project: 'Molecules',
      createdAt: '2026-11-23T08:00:00Z',
      rounds: 3,
      arms,
    };
    const { wrapper } = await mountPage(DiscoveriesPage, {}, { discoveries: () => [row] });
    const cells = wrapper.findAll('tbody th, tbody td').map((cell) => cell.text());
    expect(cells.slice(0, 5)).toEqual(['Screen', 'Molecules', '2 of 3', '6', 'ucb 3, random 1']);
    expect(wrapper.get('a').attributes('href')).toBe('/discover/test');
  });

  it('tells how to begin one', async () => {
    const { wrapper } = await mountPage(DiscoveriesPage, {}, { discoveries: () => [] });
    expect(wrapper.text()).toContain('tutti discover');
  });
});
