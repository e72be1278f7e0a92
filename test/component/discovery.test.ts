import { flushPromises, type VueWrapper } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import type {
  DiscoverySummary,
  DiscoveryView,
  PoolMapView,
  RoundPrediction,
} from '../../core/protocol/pages/discovery-views.ts';
import DiscoveriesPage from '../../src-renderer/views/discover/DiscoveriesPage.vue';
import DiscoveryPage from '../../src-renderer/views/discover/DiscoveryPage.vue';
import { batchShares, bestLines, enrichmentLines, hitLines } from '../../src-renderer/views/discover/use-round.ts';
import { acquisitionSchema } from '../../core/discovery/search.ts';
import { searchOf } from '../unit/discovery/records.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const batch = {
  scores: [0.9, NaN],
  means: [0.8, 0.5],
  deviations: [0.1, 0.25],
  metrics: {},
  seconds: { train: 4, choose: 0.1 },
};
const calibration = { kind: 'hits', count: 2, predicted: 0.65, observed: 0.5, error: 0.3 } as const;
const view: DiscoveryView = {
  search: searchOf({
    name: 'Screen',
    acquisition: acquisitionSchema.parse({ kind: 'ucb' }),
    beside: ['random'],
    perRound: 2,
    rounds: 3,
  }),
  folder: '/home/discoveries/test',
  status: 'stopped',
  isHere: false,
  failure: null,
  candidates: 1000,
  pool: { candidates: 1000, hits: 50, started: 2, hitsAtStart: 1 },
  start: { indices: [1, 2], isHit: [false, true] },
  arms: [
    { arm: 'ucb', rounds: 2, labels: [0, 1, 1, 0, 1], hits: [0, 1, 2, 2, 3] },
    { arm: 'random', rounds: 1, labels: [0, 1, 0, 0], hits: [0, 1, 1, 1] },
  ],
  choices: [
    {
      round: 1,
      indices: [7, 9],
      ...batch,
      labels: [1, 0],
      isHit: [true, false],
      texts: { smiles: ['CCO', 'C#N'] },
      calibration,
    },
    {
      round: 2,
      indices: [3, 4],
      ...batch,
      labels: [1, null],
      isHit: [true, null],
      texts: { smiles: ['C', 'N'] },
      calibration: null,
    },
  ],
  question: null,
  excluded: ['Row 2 of "screen" is no SMILES.'],
};
const prediction = (round: number): RoundPrediction => ({
  round,
  indices: Int32Array.of(1, 3, 4, 7, 9),
  means: Float32Array.of(0.1, 0.8, 0.5, 0.8, 0.5),
  deviations: Float32Array.of(0.05, 0.1, 0.25, 0.1, 0.25),
  histogram: { from: 0, to: 1, counts: Float64Array.of(900, 100) },
});
const map: PoolMapView = {
  indices: Int32Array.of(1, 3, 4, 7, 9),
  pca: { x: Float32Array.of(0, 1, 2, 3, 4), y: new Float32Array(5), explained: [0.25, 0.125] },
  umap: { x: Float32Array.of(0, 1, 2, 3, 4), y: new Float32Array(5) },
};
const drawing = { width: 200, height: 140, parts: [{ d: 'M 1,2 L 3,4', element: 8, isFilled: false, strokeWidth: 1 }] };
const answers: HubAnswers = {
  discovery: () => view,
  discoveryRound: (_id, round) => prediction(round),
  discoveryMap: (_id, isToBeMade) => (isToBeMade ? map : null),
  discoveryCandidates: (_id, indices) => ({
    texts: { smiles: indices.map((index) => `SMILES ${index}`) },
    drawings: indices.map((index) => (index % 2 === 1 ? drawing : null)),
  }),
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
    expect([...ucb.x]).toEqual([1, 2, 3, 4, 5]);
    // It ends where it leaves the chart.
    expect([...ideal.x]).toEqual([2, 3, 4]);
    expect([...ideal.y]).toEqual([1, 2, 3]);
    // 49 hits among 998 candidates are left.
    expect(random.y[3]).toBeCloseTo(1 + (3 * 49) / 998, 12);
    expect(hitLines({ ...view, pool: null })).toHaveLength(2);
  });
});

describe('the page of a search', () => {
  const imagesOf = (wrapper: VueWrapper) =>
    wrapper.findAll('.chart [role=img]').map((image) => image.attributes('aria-label'));
  const cells = (wrapper: VueWrapper, table: string) =>
    wrapper
      .get(`[aria-label="${table}"]`)
      .findAll('tbody tr')
      .map((row) => row.findAll('th, td').map((cell) => cell.text()));

  it('shows hits, enrichment, what was chosen in each round, and what was left out', async () => {
    const { wrapper, router } = await mountPage(DiscoveryPage, { props: { id: 'test' } }, answers);
    expect(imagesOf(wrapper)).toEqual([
      'Hits: ucb 3 hits among 5 labels, random 1 hits among 4 labels.',
      'Enrichment: enrichment over round; 2 ucb, each batch.',
      'Calibration: probability of a hit over round; 1 predicted, 1 came out.',
      'Mean against deviation: deviation of the members over probability of a hit, mean; 1 ' +
        'chosen, hit, 1 chosen, asked.',
      'Histogram of means: 1000 candidates, 2 of them chosen in round 2.',
    ]);
    expect(cells(wrapper, 'Acquisitions')).toEqual([
      ['ucb', '2 of 3', '5', '3', '12.00'],
      ['random', '1 of 3', '4', '1', '5'],
    ]);
    expect(cells(wrapper, 'Chosen candidates')).toEqual([
      ['3', '', 'C', '0.9000', '0.8000', '0.1000', '1', 'hit'],
      ['4', '', 'N', '–, not a number (NaN)', '0.5000', '0.2500', '–', 'asked'],
    ]);
    await wrapper.get('input[type=range]').setValue('1');
    await flushPromises();
    expect(router.currentRoute.value.query.round).toBe('1');
    expect(cells(wrapper, 'Chosen candidates')[1]).toEqual([
      '9',
      '',
      'C#N',
      '–, not a number (NaN)',
      '0.5000',
      '0.2500',
      '0',
      'no hit',
    ]);
    expect(imagesOf(wrapper)[3]).toContain('1 chosen, hit, 1 chosen, no hit');
    expect(wrapper.text()).toContain('Row 2 of "screen" is no SMILES.');
  });

  it('draws what was chosen, shows the candidate under the pointer, and keeps a pressed one', async () => {
    const { wrapper } = await mountPage(DiscoveryPage, { props: { id: 'test' } }, answers);
    const structures = wrapper.findAll('.structure');
    expect(structures.map((own) => own.attributes('aria-label'))).toEqual(['Structure of C']);
    expect(structures[0].get('path').attributes()).toMatchObject({ d: 'M 1,2 L 3,4', 'stroke-width': '1' });
    expect(structures[0].get('path').attributes('style')).toContain('var(--atom-8)');
    const card = wrapper.get('[aria-labelledby=candidate-heading]');
    expect(card.text()).toContain('Hover over a point or a row');
    const [first, second] = wrapper.get('[aria-label="Chosen candidates"]').findAll('tbody tr');
    await first.trigger('pointerenter');
    await flushPromises();
    expect(card.text()).toContain('Candidate 3smilesSMILES 3predicted0.8000 ± 0.1000score0.9000, choice 1 of 2label1');
    await first.trigger('pointerleave');
    await second.trigger('click');
    await flushPromises();
    expect(card.get('h3').text()).toBe('Candidate 4');
    expect(card.find('.structure').exists()).toBe(false);
  });

  it('makes the map of the pool on request, and marks the best predictions, hits and choices on it', async () => {
    const { wrapper, calls } = await mountPage(DiscoveryPage, { props: { id: 'test' } }, answers);
    expect(calls).toContainEqual(['discoveryMap', 'test', false]);
    buttonNamed('Make the map').click();
    await flushPromises();
    expect(imagesOf(wrapper)).toContain(
      'Map: UMAP 2 over UMAP 1; 1 best 10 %, 1 best 1 %, 2 hits before, 1 chosen, hit, 1 chosen, asked.',
    );
    await wrapper.get('[aria-label="Kind of the map"]').setValue('pca');
    await flushPromises();
    expect(imagesOf(wrapper).join()).toContain(
      'Map: component 2 (13 % of the variance) over component 1 (25 % of the variance)',
    );
  });

  it('follows a search that runs, stops it, and says why one failed', async () => {
    let now: DiscoveryView = { ...view, status: 'running', isHere: true };
    const { wrapper, hub, calls } = await mountPage(
      DiscoveryPage,
      { props: { id: 'test' } },
      { ...answers, discovery: () => now },
    );
    expect(wrapper.get('.status').text()).toBe('running');
    expect(wrapper.text()).toContain('random, round 2 of 3');
    await wrapper.get('button.button').trigger('click');
    expect(calls).toContainEqual(['stopDiscovery', 'test']);
    now = { ...view, status: 'failed', failure: 'The oracle ended with code 1.' };
    hub.page?.discoveryChanged('other');
    hub.page?.discoveryChanged('test');
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toBe('The oracle ended with code 1.');
    expect(buttonNamed('Resume').disabled).toBe(false);
  });

  it('of values shows the best label instead of hits', async () => {
    const search = searchOf({ goal: { kind: 'minimize', threshold: null } });
    const { wrapper } = await mountPage(
      DiscoveryPage,
      { props: { id: 'test' } },
      { ...answers, discovery: () => ({ ...view, search, pool: null }) },
    );
    expect(imagesOf(wrapper)[0]).toBe('Best label: smallest label over labels; no points.');
    expect(cells(wrapper, 'Chosen candidates')[0].at(-1)).toBe('labelled');
    expect(bestLines({ arms: [{ arm: 'ei', rounds: 1, labels: [3, 4, 1, 2], hits: [] }], search })[0].y).toEqual([
      3, 3, 1, 1,
    ]);
  });

  it('says that a search has not chosen yet, and why one cannot be shown', async () => {
    const none = await mountPage(
      DiscoveryPage,
      { props: { id: 'x' } },
      { discovery: () => ({ ...view, choices: [] }) },
    );
    expect(none.wrapper.text()).toContain('The search has not finished its first round.');
    const discovery = () => Promise.reject(new Error('There is no search "x".'));
    const failed = await mountPage(DiscoveryPage, { props: { id: 'x' } }, { discovery });
    expect(failed.wrapper.text()).toContain('There is no search "x".');
  });
});

describe('a question to a person', () => {
  const question = {
    indices: [8, 5],
    means: [0.25, NaN],
    deviations: [0.1, NaN],
    texts: { smiles: ['CC', 'CCC'] },
    classNames: ['inactive', 'active'],
    classCount: 2,
  };
  const waiting: DiscoveryView = { ...view, status: 'waiting', question };

  it('is answered row by row, in part if the person likes', async () => {
    const { wrapper, calls } = await mountPage(
      DiscoveryPage,
      { props: { id: 'test' } },
      { ...answers, discovery: () => waiting, answerDiscovery: () => ({ added: 1 }) },
    );
    expect(wrapper.get('#question-heading').text()).toBe('2 candidates wait for a label');
    expect(buttonNamed('Add labels').disabled).toBe(true);
    await wrapper.get('[aria-label="Label of candidate 5"]').setValue('active');
    buttonNamed('Add 1 of 2 labels').click();
    await flushPromises();
    expect(calls).toContainEqual(['answerDiscovery', 'test', { labels: [{ index: 5, label: 'active' }] }]);
    expect(wrapper.get('select').element.value).toBe('');
  });

  it('is answered by a file, and a wrong label is named', async () => {
    const { wrapper, calls } = await mountPage(
      DiscoveryPage,
      { props: { id: 'test' } },
      {
        ...answers,
        discovery: () => ({ ...waiting, question: { ...question, classNames: null, classCount: null } }),
        answerDiscovery: () => Promise.reject(new Error('labels.csv, row 2: "x" is no label.')),
      },
    );
    expect(wrapper.get('[aria-label="Label of candidate 8"]').element.tagName).toBe('INPUT');
    const input = wrapper.get<HTMLInputElement>('input[type=file]');
    const file = new File(['index,label\n8,x\n'], 'labels.csv');
    Object.defineProperty(input.element, 'files', { value: { item: () => file } });
    await input.trigger('change');
    await flushPromises();
    expect(calls).toContainEqual(['answerDiscovery', 'test', { file: 'labels.csv', csv: 'index,label\n8,x\n' }]);
    expect(wrapper.get('.question [role=alert]').text()).toBe('labels.csv, row 2: "x" is no label.');
  });

  it('is answered by a file of any marked encoding; another is refused, not sent with other characters', async () => {
    const { wrapper, calls } = await mountPage(
      DiscoveryPage,
      { props: { id: 'test' } },
      { ...answers, discovery: () => ({ ...waiting, question }), answerDiscovery: () => ({ added: 1 }) },
    );
    const input = wrapper.get<HTMLInputElement>('input[type=file]');
    const choose = async (content: Buffer): Promise<void> => {
      const file = new File([new Uint8Array(content)], 'labels.csv');
      Object.defineProperty(input.element, 'files', { value: { item: () => file }, configurable: true });
      await input.trigger('change');
      await flushPromises();
    };
    await choose(Buffer.from('index,label\n8,Zürich\n', 'latin1'));
    expect(calls.filter(([name]) => name === 'answerDiscovery')).toEqual([]);
    expect(wrapper.get('.question [role=alert]').text()).toContain('labels.csv, line 2: byte 4 of the line is 0xFC');
    await choose(Buffer.from('\uFEFFindex,label\n8,Zürich\n', 'utf16le'));
    const csv = 'index,label\n8,Zürich\n';
    expect(calls).toContainEqual(['answerDiscovery', 'test', { file: 'labels.csv', csv }]);
  });
});

describe('enrichment over rounds', () => {
  it('is the share of hits over their share in the pool, after each round and in each batch', () => {
    // 50 of 1,000 are hits: a share of hits of 0.05 is an enrichment of 1.
    const [ucb, random] = enrichmentLines(view);
    expect(ucb.x).toEqual([0, 1, 2]);
    // 1 of 2, 2 of 4, 3 of 5 labels.
    expect(ucb.y.map((own) => own.toFixed(9))).toEqual(['10.000000000', '10.000000000', '12.000000000']);
    expect(random.y).toEqual([10, 5]);
    // 1 of 2, then 1 of the only label.
    expect(batchShares(view).y).toEqual([10, 20]);
    expect(batchShares({ ...view, pool: null }).y).toEqual([0.5, 1]);
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
      status: 'finished',
      createdAt: '2026-11-23T08:00:00Z',
      rounds: 3,
      arms,
    };
    const { wrapper } = await mountPage(DiscoveriesPage, {}, { discoveries: () => [row] });
    const cells = wrapper.findAll('tbody th, tbody td').map((cell) => cell.text());
    expect(cells.slice(0, 6)).toEqual(['Screen', 'finished', 'Molecules', '2 of 3', '6', 'ucb 3, random 1']);
    expect(wrapper.get('tbody a').attributes('href')).toBe('/discover/test');
  });

  it('tells how to begin one', async () => {
    const { wrapper } = await mountPage(DiscoveriesPage, {}, { discoveries: () => [] });
    expect(wrapper.text()).toContain('tutti discover');
    expect(wrapper.findAll('a').map((link) => link.attributes('href'))).toEqual(['/new-search', '/new-search']);
  });
});
