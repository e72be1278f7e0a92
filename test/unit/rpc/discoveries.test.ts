import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { encodeSafetensors } from '../../../core/safetensors/safetensors.ts';
import { createSearch } from '../../../src-main/discovery/search-folder.ts';
import { candidates, poolOf, searchOf } from '../discovery/records.ts';
import { sessionIn } from '../discovery/searches.ts';
import { openService } from './page.ts';

it('searches are listed, and shown with their hits and choices', async () => {
  const { page, home } = await openService();
  expect(await page.hub.discoveries()).toEqual([]);
  const folder = join(home, 'home', 'discoveries', 'test');
  const search = searchOf();
  await createSearch(folder, search);
  expect(await page.hub.discovery('test')).toMatchObject({ choices: [], pool: null, candidates: 0 });

  await (await sessionIn(folder, search)).session.run();
  const targets = Int32Array.from({ length: candidates }, (_, i) => Number(i % 5 === 2));
  const tensors = [{ name: 'targets', dtype: 'I32' as const, shape: [candidates], data: targets }];
  await mkdir(join(folder, 'pool'));
  await writeFile(join(folder, 'pool', 'pool.safetensors'), encodeSafetensors(tensors));
  await writeFile(join(folder, 'pool', 'pool.json'), JSON.stringify(poolOf({ excluded: ['Row 3.'] })));
  await mkdir(join(home, 'home', 'discoveries', 'empty'));

  const [row, ...others] = await page.hub.discoveries();
  expect(others).toEqual([]);
  expect(row).toMatchObject({ id: 'test', rounds: 4 });
  expect(row.arms.map(({ arm, rounds, labels }) => [arm, rounds, labels])).toEqual([
    ['thompson', 4, 18],
    ['random', 4, 18],
    ['greedy', 4, 18],
  ]);
  const view = await page.hub.discovery('test');
  expect(view.pool).toEqual({ candidates: 40, hits: 8, started: 6, hitsAtStart: 1 });
  expect(view.excluded).toEqual(['Row 3.']);
  expect(view.choices.map(({ round }) => round)).toEqual([1, 2, 3, 4]);
  for (const { indices, labels, isHit, texts } of view.choices) {
    expect(labels).toEqual(indices.map((index) => Number(index % 5 === 2)));
    expect(isHit).toEqual(indices.map((index) => index % 5 === 2));
    expect(texts.name).toEqual(indices.map((index) => `sample "${index}"`));
  }
  expect(view.arms[0].hits.at(-1)).toBe(row.arms[0].hits);
  expect(view.arms[0].labels).toHaveLength(18);
  expect(view).toMatchObject({ status: 'finished', isHere: false, failure: null, question: null });
  expect(view.start.isHit.filter((own) => own)).toHaveLength(1);
  expect(view.choices.map(({ calibration }) => calibration?.count)).toEqual([3, 3, 3, 3]);

  const round = await page.hub.discoveryRound('test', 2);
  expect([...round.indices]).toEqual(Array.from({ length: candidates }, (_, i) => i));
  const { indices, means, deviations } = view.choices[1];
  indices.forEach((index, at) => {
    expect(round.means[index]).toBeCloseTo(means[at], 6);
    expect(round.deviations[index]).toBeCloseTo(deviations[at], 6);
  });
  expect(round.histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(candidates);
  await expect(page.hub.discoveryRound('test', 9)).rejects.toThrow('has no predictions of round 9');
});

it('a search that does not exist, and a path in place of an id, are refused', async () => {
  const { page } = await openService();
  await expect(page.hub.discovery('nothing')).rejects.toThrow('There is no search "nothing"');
  await expect(page.hub.discovery('../runs')).rejects.toThrow('There is no search "../runs"');
});

it('a watched search reports its changes, also when this process cannot continue it', async () => {
  const { page, home } = await openService();
  const folder = join(home, 'home', 'discoveries', 'test');
  const search = searchOf({ oracle: { kind: 'person' }, beside: [], isStartStratified: false });
  await createSearch(folder, search);
  await page.hub.watchDiscovery('test');
  await (await sessionIn(folder, search)).session.run();
  await vi.waitFor(() => expect(page.searchChanges).toContain('test'));

  // Without its pool nobody knows what is asked.
  expect(await page.hub.discovery('test')).toMatchObject({ status: 'waiting', question: null });
  await expect(page.hub.answerDiscovery('test', { labels: [] })).rejects.toThrow('has not read its pool yet');
  await mkdir(join(folder, 'pool'));
  await writeFile(join(folder, 'pool', 'pool.json'), JSON.stringify(poolOf({ classNames: ['no', 'yes'] })));
  const targets = [{ name: 'targets', dtype: 'I32' as const, shape: [candidates], data: new Int32Array(candidates) }];
  await writeFile(join(folder, 'pool', 'pool.safetensors'), encodeSafetensors(targets));
  const { question } = await page.hub.discovery('test');
  expect(question?.indices).toHaveLength(6);
  expect(question).toMatchObject({ classNames: ['no', 'yes'], classCount: 2 });
  expect((await page.hub.discoveryQuestion('test')).split('\n')).toHaveLength(8);
  const wrong = { labels: [{ index: question?.indices[0] ?? 0, label: 'maybe' }] };
  await expect(page.hub.answerDiscovery('test', wrong)).rejects.toThrow('"maybe" is no label of the pool "pool"');
  const csv = { file: 'labels.csv', csv: 'index,label\n99,yes\n' };
  await expect(page.hub.answerDiscovery('test', csv)).rejects.toThrow('labels.csv, row 2: "99" is no candidate');

  // Its project does not exist.
  await expect(page.hub.resumeDiscovery('test')).rejects.toThrow('/project');
  await vi.waitFor(async () => expect((await page.hub.discovery('test')).status).toBe('failed'));
  expect((await page.hub.discovery('test')).failure).toContain('/project');
  await page.hub.unwatchDiscovery('test');
});
