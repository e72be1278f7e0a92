import { flushPromises, type VueWrapper } from '@vue/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StudyView } from '../../core/protocol/pages/study-views.ts';
import StudyPage from '../../src-renderer/views/studies/study/StudyPage.vue';
import { largeView, summaryOf, trialOf, viewOf } from '../unit/renderer/study-fixtures.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const trials = [
  trialOf(0, { values: { weightDecay: 0.001, units: 8 }, objectives: [0.5], standardErrors: [0.01] }),
  trialOf(1, {
    state: 'failed',
    values: { weightDecay: 10, units: 4 },
    objectives: null,
    error: 'Rank 1 on cpu:1: the loss is NaN.\nLower the rate.',
  }),
  trialOf(2, { values: { weightDecay: 0.1, units: 64 }, objectives: [0.4], standardErrors: [0.02] }),
];
const open = (view: StudyView, answers: HubAnswers = {}, query = '') =>
  mountPage(
    StudyPage,
    { props: { id: 'study-1' }, address: `/studies/study-1${query}` },
    { session: () => ({ role: 'owner', canInvite: true }), study: () => view, ...answers },
  );
const rowsOf = (wrapper: VueWrapper) =>
  wrapper.findAll('.trials .row').map((row) => row.findAll('[role=gridcell]').map((cell) => cell.text()));

/** There is no layout in the document of these tests: all elements are of this size. */
const size = { inlineSize: 800, blockSize: 400 };
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(size.inlineSize);
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(size.blockSize);
  const observe = function (this: { told: ResizeObserverCallback }, target: Element) {
    const entry = { target, contentBoxSize: [size], borderBoxSize: [size] } as unknown as ResizeObserverEntry;
    queueMicrotask(() => this.told([entry], this as unknown as ResizeObserver));
  };
  vi.stubGlobal(
    'ResizeObserver',
    class {
      told: ResizeObserverCallback;
      observe = observe;
      constructor(told: ResizeObserverCallback) {
        this.told = told;
      }
      unobserve = () => undefined;
      disconnect = () => undefined;
    },
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('the page of a study', () => {
  it('shows its progress, its best trial, charts and trials', async () => {
    const { wrapper } = await open(viewOf(trials));
    expect(wrapper.get('h1').text()).toBe('wine');
    expect(wrapper.get('.study-header').text()).toContain('3 of 100 trials ended, 1 failed');
    expect(wrapper.get('.best').text()).toBe('Best: 0.4000 ± 0.02 in trial 2, weightDecay 0.1000, units 64');
    expect(wrapper.findAll('.chart-grid h3').map((title) => title.text())).toEqual([
      'History',
      'Importance',
      'Parallel coordinates',
      'weightDecay',
      'units',
    ]);
    expect(wrapper.get('[role=img][aria-label^=History]').attributes('aria-label')).toBe(
      'History: ensemble NLL over trial; 2 complete, 1 failed.',
    );
    expect(wrapper.text()).toContain('The importance of parameters needs 10 complete trials; there are 2.');
    expect(rowsOf(wrapper)).toEqual([
      ['', '0', 'complete', '0.5000 ± 0.01', '0.001000', '8', '8 s', ''],
      ['', '1', 'failed', '–, the trial is failed', '10', '4', '8 s', 'Rank 1 on cpu:1: the loss is NaN.'],
      ['', '2', 'complete', '0.4000 ± 0.02', '0.1000', '64', '8 s', ''],
    ]);
  });

  it('shows the values behind a chart', async () => {
    const { wrapper } = await open(viewOf(trials));
    await wrapper.get('[aria-label="Table of History"]').trigger('click');
    const cells = wrapper.findAll('.chart-rows tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(cells).toEqual([
      ['trial', 'kind', 'trial', 'ensemble NLL', 'standard error'],
      ['0', 'complete', '0', '0.5000', '0.01000'],
      ['1', 'failed', '1', '–, not a number (NaN)', '–, not a number (NaN)'],
      ['2', 'complete', '2', '0.4000', '0.02000'],
    ]);
  });

  it('shows the importance of parameters with intervals, and says where few trials stand behind it', async () => {
    // Only units decide: by chance or not, 12 trials cannot tell.
    const some = Array.from({ length: 12 }, (_, number) => {
      const units = 5 * number + 1;
      return trialOf(number, { values: { weightDecay: 10 ** (-1 - (number % 4)), units }, objectives: [units] });
    });
    const { wrapper } = await open(viewOf(some));
    expect(wrapper.get('.importance .muted').text()).toContain('With 12 complete trials the best tenth is 2 trials');
    expect(wrapper.findAll('.importance line.interval')).toHaveLength(2);
    await wrapper.get('[aria-label="Table of Importance"]').trigger('click');
    const [head, ...rows] = wrapper
      .findAll('.chart-rows tr')
      .map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(head).toEqual(['name', 'share', 'from', 'to']);
    for (const [, share, from, to] of rows) {
      expect(Number(from)).toBeLessThanOrEqual(Number(share));
      expect(Number(to)).toBeGreaterThanOrEqual(Number(share));
    }
    expect(rows.map(([name]) => name)).toEqual(['units', 'weightDecay']);
  });

  it('has more charts where there is more to show', async () => {
    const score = { metric: 'nll', ensemble: 0.4, ensembleError: NaN, meanMember: 0.5, meanMemberError: NaN };
    const run = { part: { split: 0, seed: 0 }, run: 'r', ranks: null, devices: ['cpu:0'], scores: [] };
    const times = { startedAt: trials[0].startedAt, endedAt: trials[0].endedAt };
    const nll = { metric: 'nll', kind: 'ensemble', direction: 'minimize' } as const;
    const full = trialOf(0, {
      objectives: [0.4, 0.5],
      scores: [score],
      runs: [{ ...run, ...times }],
      reports: [{ step: 1, value: 0.6 }],
    });
    const { wrapper } = await open(viewOf([full], { objectives: [nll, { ...nll, kind: 'mean-member' }] }));
    expect(wrapper.findAll('.chart-grid h3').map((title) => title.text())).toEqual(
      expect.arrayContaining(['Ensemble and members', 'Pareto front', 'Intermediate values', 'Devices']),
    );
    expect(wrapper.get('a.run').attributes('href')).toBe('/runs/r');
    await wrapper.get('.toolbar select').setValue('1');
    await expect
      .poll(() => wrapper.get('[role=img][aria-label^=History]').attributes('aria-label'))
      .toContain('mean member NLL');
  });

  it('selects by keys on an axis, in all charts and the table, and keeps the selection in the address', async () => {
    const { wrapper, router } = await open(viewOf(trials));
    const end = wrapper.get('[role=slider][aria-label="weightDecay, least"]');
    expect(end.attributes('aria-valuetext')).toBe('6.393e-6');
    for (let press = 0; press < 5; press += 1) await end.trigger('keydown', { key: 'PageUp' });
    expect(wrapper.get('.toolbar').text()).toContain('2 of 3 trials selected');
    expect(rowsOf(wrapper).map(([, number]) => number)).toEqual(['1', '2']);
    expect(wrapper.get('[role=img][aria-label^=units]').attributes('aria-label')).toBe(
      'units: ensemble NLL over units; 1 complete, 1 failed.',
    );
    await expect.poll(() => String(router.currentRoute.value.query.only)).toContain('parameter weightDecay');
    const [chip] = wrapper.findAll('.toolbar .chip');
    expect(chip.text()).toBe('weightDecay 0.01732 to 46.93 ✕');
    await chip.trigger('click');
    expect(rowsOf(wrapper)).toHaveLength(3);
  });

  it('begins with the selection and the picks of its address', async () => {
    const only = encodeURIComponent('{"parameter units":[5,100]}');
    const { wrapper } = await open(viewOf(trials), {}, `?only=${only}&picked=2&sort=-parameter%20units`);
    expect(rowsOf(wrapper).map(([, number]) => number)).toEqual(['2', '0']);
    expect(wrapper.get('[data-picked=true]').text()).toContain('0.4000');
    expect(wrapper.find('[aria-sort=descending]').text()).toContain('units');
  });

  it('selects what is dragged over in a chart, and picks what is clicked', async () => {
    const { wrapper, router } = await open(viewOf(trials));
    const pointer = wrapper.findAll('.chart-pointer')[0];
    const at = (offsetX: number, offsetY: number) => ({ button: 0, pointerId: 1, offsetX, offsetY });
    // A constructed pointer event has no offsets.
    const send = async (type: string, place: ReturnType<typeof at>) => {
      const event = Object.assign(new Event(type, { bubbles: true }), place);
      pointer.element.dispatchEvent(event);
      await flushPromises();
    };
    Object.assign(pointer.element, { setPointerCapture: () => undefined });
    await send('pointerdown', at(500, 20));
    await send('pointermove', at(780, 22));
    await send('pointerup', at(780, 22));
    expect(wrapper.get('.toolbar .chip').text()).toMatch(/^trial 1\.\d+ to 2\.0\d+/);
    expect(rowsOf(wrapper).map(([, number]) => number)).toEqual(['2']);

    const point = /M([\d.]+) ([\d.]+)h0$/.exec(wrapper.get('.chart-svg path[d$="h0"]').attributes('d') ?? '');
    const place = at(Number(point?.[1]), Number(point?.[2]));
    await send('pointermove', place);
    expect(wrapper.findAll('.chart-beside')[0].text()).toMatch(/^trial \d, complete: trial \d, ensemble NLL 0\.\d+/);
    await send('pointerdown', place);
    await send('pointerup', place);
    await expect.poll(() => router.currentRoute.value.query.picked).toMatch(/^\d$/);
  });

  it('follows the study', async () => {
    const view = viewOf(trials);
    const { wrapper, hub, calls } = await open(view);
    expect(calls.map(([method]) => method)).toEqual(expect.arrayContaining(['watchStudy', 'study']));
    const added = trialOf(3, { objectives: [0.1] });
    const summary = { ...summaryOf(view.study, [...trials, added]), status: 'running' as const };
    hub.page?.studyChanged('study-1', { summary, trials: [added], enqueued: [{ weightDecay: 1, units: 2 }] });
    await flushPromises();
    expect(rowsOf(wrapper)).toHaveLength(4);
    expect(wrapper.get('.best').text()).toContain('in trial 3');
    expect(wrapper.text()).toContain('Tried next: weightDecay 1, units 2');
    expect(buttonNamed('Stop').disabled).toBe(false);
    hub.page?.studyChanged('another', { summary: { ...summary, status: 'finished' }, trials: [], enqueued: [] });
    await flushPromises();
    expect(wrapper.text()).toContain('Tried next');
  });

  it('draws thousands of trials as few shapes, and only the rows in view', async () => {
    const { wrapper } = await open(largeView(2000, 3));
    expect(wrapper.get('.study-header').text()).toContain('of 2000 trials ended');
    expect(wrapper.findAll('.trials .row').length).toBeLessThan(40);
    const shapes = wrapper.findAll('.chart-grid path, .chart-grid circle, .chart-grid rect');
    expect(shapes.length).toBeLessThan(300);
    const marks = wrapper.findAll('.chart-svg path[d$="h0"]').map((path) => path.attributes('d')?.split('M').length);
    expect(Math.max(...marks.map(Number))).toBeGreaterThan(1000);
  });

  it('says so when it is empty or cannot be read', async () => {
    const empty = await open(viewOf([]));
    expect(empty.wrapper.text()).toContain('No trials yet');
    empty.wrapper.unmount();
    const { wrapper } = await open(viewOf([]), {
      study: () => Promise.reject(new Error('There is no study study-1.')),
    });
    expect(wrapper.text()).toContain('This study cannot be shown');
    expect(wrapper.text()).toContain('There is no study study-1.');
  });

  it('offers nothing to watchers that they may not do', async () => {
    const { wrapper } = await open(viewOf(trials), { session: () => ({ role: 'watcher', canInvite: false }) });
    const { useSessionStore } = await import('../../src-renderer/stores/session.ts');
    await useSessionStore().load();
    await flushPromises();
    expect(wrapper.find('.controls').exists()).toBe(false);
  });
});

describe('what a user does with a study', () => {
  it('resumes, adds trials, tries values and makes an ensemble of the picked trials', async () => {
    const answers = { ensembleFromStudy: () => ({ id: 'run-9' }) };
    const { calls, router } = await open(viewOf(trials), answers, '?picked=2,0');
    const asked = (method: string) => calls.filter(([name]) => name === method).map(([, ...args]) => args);
    buttonNamed('Resume').click();
    await flushPromises();
    expect(asked('resumeStudy')).toEqual([['study-1']]);

    buttonNamed('Add trials').click();
    await flushPromises();
    const count = document.querySelector<HTMLInputElement>('#more-trials');
    if (count === null) throw new Error('There is no field for the number of trials.');
    count.value = '7';
    count.dispatchEvent(new Event('input'));
    await flushPromises();
    submit();
    await flushPromises();
    expect(asked('addTrials')).toEqual([['study-1', 7]]);
    expect(asked('resumeStudy')).toHaveLength(2);

    buttonNamed('Try a configuration').click();
    await flushPromises();
    const units = document.querySelector<HTMLInputElement>('[id="value-units"]');
    expect(units?.value).toBe('64');
    if (units !== null) units.value = '65';
    units?.dispatchEvent(new Event('input'));
    await flushPromises();
    expect(document.querySelector('.dialog')?.textContent).toContain(
      'units is 65, but must be a whole number from 1 to 64.',
    );
    expect(buttonNamed('Try next').disabled).toBe(true);
    if (units !== null) units.value = '12';
    units?.dispatchEvent(new Event('input'));
    await flushPromises();
    submit();
    await flushPromises();
    expect(asked('enqueueTrial')).toEqual([['study-1', { weightDecay: 0.1, units: 12 }]]);

    buttonNamed('Make an ensemble of 2').click();
    await flushPromises();
    submit();
    await flushPromises();
    expect(asked('ensembleFromStudy')).toEqual([
      ['study-1', { method: 'greedy', size: 8, name: 'wine, ensemble', trials: [0, 2] }],
    ]);
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/runs/run-9');
  });

  it('cannot pick trials without members', async () => {
    const { wrapper, router } = await open(viewOf(trials));
    const boxes = wrapper.findAll<HTMLInputElement>('.trials input');
    expect(boxes.map((box) => box.element.disabled)).toEqual([false, true, false]);
    await boxes[2].trigger('change');
    await expect.poll(() => router.currentRoute.value.query.picked).toBe('2');
  });

  it('asks before it deletes', async () => {
    const { calls } = await open(viewOf(trials));
    buttonNamed('Delete').click();
    await flushPromises();
    expect(document.querySelector('[role=alertdialog]')?.textContent).toContain('Their runs stay.');
    expect(calls.some(([method]) => method === 'deleteStudy')).toBe(false);
    document.querySelector<HTMLButtonElement>('[role=alertdialog] .danger')?.click();
    await flushPromises();
    expect(calls.some(([method]) => method === 'deleteStudy')).toBe(true);
  });
});

function submit(): void {
  document.querySelector('.dialog form')?.dispatchEvent(new Event('submit', { cancelable: true }));
}
