import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maximumSampleBytes } from '../../../core/protocol/pages/new-samples.ts';
import type { StudyImportRequest } from '../../../core/protocol/pages/study-views.ts';
import { writeJournal } from '../../../core/studies/optuna/write-journal.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { studyOf } from '../studies/studies.ts';
import { openPage, openService, type TestPage } from './page.ts';
import { tinyProject } from './tiny-project.ts';

const begin = { type: 'begin', isEnqueued: false, until: null, worker: 'w' } as const;
const values = { weightDecay: 0.5, units: 3 };

/** A service, and a study with a trial that is complete. */
async function openWithStudy() {
  const opened = await openService();
  const store = await StudyStore.create(studyOf(), [
    { type: 'trials', count: 1 },
    { ...begin, work: 0, number: 0, values },
    { type: 'end', work: 0, number: 0, state: 'complete', objectives: [NaN], error: null },
  ]);
  return { ...opened, store };
}

it('lists and shows studies, also to those who only watch', async () => {
  const { service, page } = await openWithStudy();
  const summary = {
    id: 'study-1',
    name: 'wine',
    status: 'finished',
    best: null,
    trials: { wanted: 1, complete: 1 },
    isHere: false,
  };
  expect(await page.hub.studies()).toMatchObject([summary]);
  // Now from the index.
  expect(await openPage(service, 'watcher').hub.studies()).toMatchObject([summary]);
  const { study, trials, warnings } = await page.hub.study('study-1');
  expect(study).toEqual(studyOf());
  expect(trials).toMatchObject([{ number: 0, state: 'complete', objectives: [NaN], standardErrors: [NaN], values }]);
  expect(warnings).toEqual([]);
  await expect(page.hub.study('../runs')).rejects.toThrow('letters, digits');
  await expect(page.hub.study('none')).rejects.toThrow('holds no study');
});

it('adds trials, enqueues values that fit, and tells pages that watch', async () => {
  const { page, store } = await openWithStudy();
  await page.hub.watchStudy('study-1');
  await page.hub.addTrials('study-1', 5);
  await page.hub.enqueueTrial('study-1', { weightDecay: 1, units: 2 });
  await expect(page.hub.enqueueTrial('study-1', { weightDecay: 1 })).rejects.toThrow('units is missing');
  await store.append([{ ...begin, work: 1, number: 1, values, isEnqueued: true }]);
  await expect
    .poll(() => page.studyChanges.flatMap(({ trials }) => trials))
    .toMatchObject([{ number: 1, state: 'running' }]);
  expect(page.studyChanges.at(-1)).toMatchObject({ enqueued: [], summary: { trials: { wanted: 6, running: 1 } } });
  await page.hub.unwatchStudy('study-1');
});

it('exports an Optuna journal, and deletes a study that nobody works on', async () => {
  const { page } = await openWithStudy();
  const { path, link } = await page.hub.exportStudy('study-1');
  expect(path).toMatch(/study-1\.log$/);
  expect(link).toBe('/exports/study-1.log');
  await page.hub.deleteStudy('study-1');
  expect(await page.hub.studies()).toEqual([]);
});

it('refuses an ensemble from trials without runs', async () => {
  const { page } = await openWithStudy();
  const request = { method: 'greedy' as const, trials: [0], size: 3, name: 'x' };
  await expect(page.hub.ensembleFromStudy('study-1', request)).rejects.toThrow('Trial 0 has no run here');
});

const space = orderSpace({ 'optimizer.learningRate': { kind: 'log', low: 1e-4, high: 1 } });

function journalOf(name: string, directions: ('minimize' | 'maximize')[], count: number): string {
  const trials = Array.from({ length: count }, (_, number): Trial => ({
    number,
    state: 'complete',
    values: { 'optimizer.learningRate': 1 / (number + 2) },
    objectives: directions.map((_direction, index) => number + index),
    reports: [],
  }));
  return writeJournal(name, directions, space, trials);
}

async function sendJournal(page: TestPage, journal: string, objectives: StudyImportRequest['objectives']) {
  const bytes = Buffer.from(journal);
  const upload = await page.hub.openUpload({ ending: 'log', bytes: bytes.length });
  for (let sent = 0; sent < bytes.length; sent += maximumSampleBytes) {
    await page.hub.sendPart(upload, bytes.subarray(sent, sent + maximumSampleBytes));
  }
  return page.hub.importStudy({ projectFolder: tinyProject, upload, name: null, objectives });
}

it.each<[string, (journal: string) => string, string]>([
  [
    'whose range became smaller',
    (journal) => `${journal}${journal.split('\n')[2].replace('\\"high\\": 1,', '\\"high\\": 0.4,')}\n`,
    'Trial 0 of the study "narrow" of the journal does not fit its other trials: ' +
      'optimizer.learningRate is 0.5, but must be',
  ],
  [
    'that lacks a parameter of the others',
    (journal) => journal.replace('"params": {"optimizer.learningRate": 0.5}', '"params": {}'),
    'does not fit its other trials: optimizer.learningRate is missing',
  ],
  [
    'that has too few results',
    (journal) => journal.replace('"value": 0,', '"value": null,'),
    'it has 0 results for 1 objectives',
  ],
])('leaves no study behind where a journal has a trial %s', async (_, spoil, message) => {
  const { page, home } = await openService();
  await page.hub.trustProject(tinyProject);
  const spoilt = spoil(journalOf('narrow', ['minimize'], 2));
  await expect(sendJournal(page, spoilt, null)).rejects.toThrow(message);
  expect(await page.hub.studies()).toEqual([]);
  await expect(readdir(join(home, 'home', 'studies'))).rejects.toThrow('ENOENT');
  await sendJournal(page, journalOf('narrow', ['minimize'], 2), null);
  expect(await readdir(join(home, 'home', 'studies'))).toHaveLength(1);
});

it('imports a journal of more than one call, whose metrics are named', async () => {
  const { page, home } = await openService();
  await page.hub.trustProject(tinyProject);
  const journal = journalOf('large', ['maximize', 'minimize'], 5_000);
  expect(journal.length).toBeGreaterThan(2 ** 20);
  const { id } = await sendJournal(page, journal, [
    { metric: 'acc', kind: 'ensemble' },
    { metric: 'nll', kind: 'mean-member' },
  ]);
  const { study, trials } = await page.hub.study(id);
  expect(study.objectives).toEqual([
    { metric: 'acc', kind: 'ensemble', direction: 'maximize' },
    { metric: 'nll', kind: 'mean-member', direction: 'minimize' },
  ]);
  expect(trials).toHaveLength(5_000);
  expect(trials[4_999]).toMatchObject({ state: 'complete', objectives: [4_999, 5_000], isImported: true });
  expect((await readdir(join(home, 'home'), { recursive: true })).filter((path) => path.includes('question-'))).toEqual(
    [],
  );

  const small = journalOf('small', ['maximize'], 1);
  await expect(sendJournal(page, small, null)).rejects.toThrow(
    'is to maximize its objective 1, but nll is to be minimized. Name the metric that the journal holds',
  );
  await expect(sendJournal(page, journalOf('two', ['minimize', 'minimize'], 1), null)).rejects.toThrow(
    'has 2 objectives, and 1 is named',
  );
});
