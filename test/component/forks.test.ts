import { describe, expect, it } from 'vitest';
import type { ForkPoint } from '../../core/protocol/history/history.ts';
import type { RunListChange, RunRow } from '../../core/protocol/pages/run-list.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { useLoaded } from '../../src-renderer/composables/use-loaded.ts';
import { useHub } from '../../src-renderer/client/use-hub.ts';
import ForkPoints from '../../src-renderer/views/run/configuration/ForkPoints.vue';
import RunHistory from '../../src-renderer/views/run/configuration/RunHistory.vue';
import { useSessionStore } from '../../src-renderer/stores/session.ts';
import { attempt, runRecord, runRow, runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const savedAt = '2026-01-01T00:00:00.000Z';
const point = (name: string, kind: ForkPoint['kind'], attempt: number, epoch: number): ForkPoint => ({
  name,
  kind,
  attempt,
  epoch,
  step: 10 * (epoch + 1),
  savedAt,
});

describe('the points at which a fork can begin', () => {
  const card = {
    components: { ForkPoints },
    setup: () => {
      const hub = useHub();
      void useSessionStore().load();
      return { points: useLoaded(() => hub.forkPoints('r')) };
    },
    template: '<ForkPoints run-id="r" :points="points" />',
  };
  const points = [
    point('attempt-1/final', 'checkpoint', 1, 1),
    point('ensemble-best', 'checkpoint', 2, 2),
    point('epoch-00002', 'checkpoint', 2, 2),
    point('round-3', 'state', 2, 2),
  ];
  const open = (answers: HubAnswers) =>
    mountPage(card, {}, { session: () => ({ role: 'owner', canInvite: true }), ...answers });

  it('are listed from new to old, once for all names of the same weights, with a link to the form', async () => {
    const { wrapper } = await open({ forkPoints: () => points });
    const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('td, th').map((cell) => cell.text()));
    expect(rows.map((row) => row.slice(0, 6))).toEqual([
      ['Fork from here', '3', '30', 'exactly, from a state', 'round-3', '2'],
      ['Fork from here', '3', '30', 'with the weights only', 'ensemble-best, epoch-00002', '2'],
      ['Fork from here', '2', '20', 'with the weights only', 'attempt-1/final', '1'],
    ]);
    const links = wrapper.findAll('tbody a');
    expect(links.map((link) => link.attributes('aria-label'))).toEqual([
      'Fork from here: round-3, epoch 3',
      'Fork from here: ensemble-best, epoch 3',
      'Fork from here: attempt-1/final, epoch 2',
    ]);
    expect(links[2].attributes('href')).toBe('/configure?fork=r&at=attempt-1/final');
  });

  it('are shown to watchers without a link', async () => {
    const { wrapper } = await open({
      session: () => ({ role: 'watcher', canInvite: false }),
      forkPoints: () => points,
    });
    expect(wrapper.findAll('tbody tr')).toHaveLength(3);
    expect(wrapper.findAll('a')).toEqual([]);
  });

  it('are explained where there are none, and read again after an error', async () => {
    let isBroken = true;
    const { wrapper } = await open({
      forkPoints: () => {
        if (isBroken) throw new Error('The folder is gone.');
        return [];
      },
    });
    await expect.poll(() => wrapper.find('[role=alert]').exists()).toBe(true);
    expect(wrapper.get('[role=alert]').text()).toContain('The saved points cannot be listed. The folder is gone.');
    isBroken = false;
    buttonNamed('Try again').click();
    await expect.poll(() => wrapper.find('[role=alert]').exists()).toBe(false);
    expect(wrapper.text()).toContain('No saved points yet');
  });
});

describe('the history of a run', () => {
  const config = (maxEpochs: number) => runConfigSchema.parse({ maxEpochs });
  const ended = { endedAt: '2026-01-01T00:01:05.000Z', status: 'finished' as const };
  const record: Partial<RunRecord> = {
    attempts: [
      { ...attempt(1), ...ended, kind: 'fork', from: { epoch: 5, step: 50 }, config: config(6) },
      {
        ...attempt(2),
        kind: 'resume',
        from: { epoch: 6, step: 60 },
        config: config(9),
        environment: {
          host: 'bench',
          os: 'Linux 6.1 x64',
          cpu: 'a processor',
          cores: 2,
          memoryBytes: 2 ** 31,
          node: '24.0.0',
          devices: ['cpu:0 core'],
          variables: { OMP_NUM_THREADS: '2' },
        },
      },
    ],
    config: config(9),
    origin: {
      run: 'r0',
      name: 'earlier',
      folder: '/runs/r0',
      attempt: 1,
      kind: 'state',
      point: 'round-5',
      epoch: 4,
      step: 50,
    },
  };
  const event = { time: savedAt, attempt: 1, rank: null, kind: 'finished', epoch: null, step: null, data: {} };
  const view = runView({ record: runRecord(record), events: [{ ...event, message: 'All 6 epochs are done.' }] });
  const page = (rows: RunRow[], total = rows.length) => ({ rows, total });

  it('names the origin, each attempt and the forks, and follows new forks', async () => {
    const known = [runRow({ id: 'f1', name: 'with a smaller rate', status: 'failed', origin: 'r' })];
    const { wrapper, hub } = await mountPage(
      RunHistory,
      { props: { view } },
      {
        runs: ({ ids, origin }) => {
          if (ids !== undefined) return page([runRow({ id: 'r0', name: 'renamed since' })]);
          return page(origin === 'r' ? [...known] : []);
        },
      },
    );
    expect(wrapper.get('.line').text().replaceAll(/\s+/g, ' ')).toBe(
      'Fork of renamed since after epoch 5 (step 50), continued exactly from the state round-5.',
    );
    expect(wrapper.get('.line a').attributes('href')).toBe('/runs/r0');
    const [second, first] = wrapper.findAll('.attempt').map((one) => one.text());
    expect(second).toContain('Attempt 2, resumed at epoch 7 (step 60)');
    expect(second).toContain('maxEpochs: 6 → 9');
    expect(second).toContain('bench, Linux 6.1 x64, a processor, 2 cores, 2 GiB');
    expect(first).toContain('Attempt 1, forked at epoch 6 (step 50)');
    expect(first).toContain('lasted 1 m 05 s');
    expect(first).toContain('All 6 epochs are done.');
    expect(wrapper.findAll('.forks li').map((fork) => fork.text())).toEqual(['with a smaller ratefailed']);

    const next = runRow({ id: 'f2', name: 'another', origin: 'r' });
    known.push(next);
    const change: RunListChange = { changed: [next], removed: [], isPartial: false, overview: null };
    hub.page?.runsChanged(change);
    await expect.poll(() => wrapper.findAll('.forks li').length).toBe(2);
  });

  it('marks the attempt and the forks with metrics that are not finite, which are no success', async () => {
    const summary = {
      attempt: 1,
      epochs: 6,
      steps: 60,
      stopReason: 'completed' as const,
      metrics: { 'val/member_0_nll': 0.5, 'val/member_1_nll': NaN },
      best: null,
      evaluatedSets: [],
    };
    const fork = runRow({ id: 'f1', status: 'finished', origin: 'r', notFinite: 'not finite: rank 3' });
    const { wrapper } = await mountPage(
      RunHistory,
      { props: { view: runView({ record: runRecord({ ...record, summary }), events: [] }) } },
      { runs: ({ ids }) => page(ids === undefined ? [fork] : []) },
    );
    const [second, first] = wrapper.findAll('.attempt');
    expect(first.get('.run-status').text()).toContain('not finite: rank 1');
    expect(first.find('.pill.doubtful').exists()).toBe(true);
    expect(second.text()).not.toContain('not finite');
    expect(wrapper.get('.forks .run-status').text()).toContain('not finite: rank 3');
    expect(wrapper.find('.forks .pill.doubtful').exists()).toBe(true);
  });

  it('says that the origin is gone and that nothing was forked', async () => {
    const { wrapper } = await mountPage(RunHistory, { props: { view } }, { runs: () => page([]) });
    expect(wrapper.get('.line').text()).toContain('That run is no longer in the list');
    expect(wrapper.find('.line a').exists()).toBe(false);
    expect(wrapper.text()).toContain('None. A fork begins at a saved point of this run.');
  });

  it('keeps the attempts where the forks cannot be listed', async () => {
    const { wrapper } = await mountPage(
      RunHistory,
      { props: { view } },
      {
        runs: () => {
          throw new Error('The index is busy.');
        },
      },
    );
    await expect.poll(() => wrapper.find('[role=alert]').exists()).toBe(true);
    expect(wrapper.get('[role=alert]').text()).toContain('The forks cannot be listed. The index is busy.');
    expect(wrapper.findAll('.attempt')).toHaveLength(2);
  });
});
