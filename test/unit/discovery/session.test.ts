import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { nextStep } from '../../../core/discovery/steps.ts';
import { chosenBy, hitsOf, progressOf } from '../../../core/discovery/progress.ts';
import type { SearchLine } from '../../../core/discovery/search.ts';
import { readLines, searchPaths } from '../../../src-main/discovery/search-folder.ts';
import type { RoundPlace } from '../../../src-main/discovery/train-round.ts';
import { readAnswers } from '../../../src-main/discovery/person.ts';
import { candidates, poolOf, searchOf } from './records.ts';
import { newFolder, sessionIn, withoutTimes } from './searches.ts';

const folders: string[] = [];
async function temporary(): Promise<string> {
  const folder = await newFolder();
  folders.push(folder);
  return folder;
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

test('each arm chooses its own candidates, once each, from the same stratified start; the first round is trained once', async () => {
  const folder = await temporary();
  const trained: RoundPlace[] = [];
  const { session, updates } = await sessionIn(folder, searchOf(), trained);
  expect(await session.run()).toEqual({ kind: 'finished' });
  const { progress } = session;
  for (const arm of ['thompson', 'random', 'greedy']) {
    const chosen = chosenBy(progress, arm);
    expect(chosen.slice(0, 6)).toEqual(progress.start);
    expect(new Set(chosen).size).toBe(18);
    const hits = chosen.filter((index) => index % 5 === 2).length;
    expect(hitsOf(searchOf(), progress, arm).at(-1)).toBe(hits);
  }
  // 8 of 40 are hits, so 1 of 6.
  expect(progress.start?.filter((index) => index % 5 === 2)).toHaveLength(1);
  expect(trained.map(({ arm, round }) => `${arm} ${round}`)).toEqual([
    'thompson 1',
    'thompson 2',
    'greedy 2',
    'thompson 3',
    'greedy 3',
    'thompson 4',
    'greedy 4',
  ]);
  expect(updates.filter(({ type }) => type === 'chosen')).toHaveLength(12);
  expect(progress.choices.get('greedy')?.map(({ metrics }) => metrics.nll)).toEqual([6, 9, 12, 15]);
});

test('a search that was killed after any byte of its lines continues with the same choices', async () => {
  const whole = await temporary();
  const search = searchOf({ rounds: 2 });
  await (await sessionIn(whole, search)).session.run();
  const bytes = await readFile(searchPaths(whole).lines);
  const expected = withoutTimes(await readLines(whole));
  const folder = await temporary();
  const ends = Array.from({ length: 40 }, (_, i) => Math.floor((i / 39) * bytes.length));
  const lineEnds = [...bytes].flatMap((byte, at) => (byte === 10 ? [at, at + 1] : []));
  for (const end of [...ends, ...lineEnds]) {
    await writeFile(searchPaths(folder).lines, bytes.subarray(0, end));
    const { session } = await sessionIn(folder, search);
    await session.run();
    expect(withoutTimes(await readLines(folder)), `killed after byte ${end}`).toEqual(expected);
  }
});

test('a person is asked by a CSV file, and the search continues with the labels', async () => {
  const folder = await temporary();
  const search = searchOf({ oracle: { kind: 'person' }, beside: [], isStartStratified: false, rounds: 1 });
  const ask = async () => {
    const { session } = await sessionIn(folder, search);
    const end = await session.run();
    if (end?.kind !== 'waiting') throw new Error('It does not wait.');
    const text = await readFile(end.question, 'utf8');
    // Asking again changes nothing.
    await (await sessionIn(folder, search)).session.run();
    expect(await readFile(end.question, 'utf8')).toBe(text);
    const answers = `${folder}/answers.csv`;
    await writeFile(answers, text.replaceAll(/,$/gm, ',1'));
    const { session: next } = await sessionIn(folder, search);
    return { text, count: await next.addLabels(await readAnswers(answers, poolOf())), next };
  };
  const start = await ask();
  expect(start.text).toMatch(/^index,name,label\n\d+,"sample ""\d+""",\n/);
  expect(start.count).toBe(6);
  const first = await ask();
  expect(first.text).toMatch(/^index,name,predicted,deviation,label\n\d+,"sample ""\d+""",-?[\d.]+,[\d.]+,\n/);
  expect(first.count).toBe(3);
  const { session } = await sessionIn(folder, search);
  expect(await session.run()).toEqual({ kind: 'finished' });
  expect(hitsOf(search, session.progress, 'thompson').at(-1)).toBe(9);
});

test('a pool that is too small, and lines that do not follow each other, are refused', async () => {
  const { session } = await sessionIn(await temporary(), searchOf({ start: candidates - 1 }));
  await expect(session.run()).rejects.toThrow('A start of 39 and 3 a round need more than the 40 candidates');
  const folder = await temporary();
  await (await sessionIn(folder, searchOf({ rounds: 1 }))).session.run();
  const text = await readFile(searchPaths(folder).lines, 'utf8');
  await writeFile(searchPaths(folder).lines, text.replaceAll('"round":1', '"round":2'));
  const { session: changed } = await sessionIn(folder, searchOf({ rounds: 1 }));
  await expect(changed.run()).rejects.toThrow('rounds.jsonl has round 2 of thompson after round 0');
});

test('a search ends where no candidate is left', async () => {
  const { session } = await sessionIn(await temporary(), searchOf({ start: 35, beside: ['random'], rounds: 5 }));
  expect(await session.run()).toEqual({ kind: 'finished' });
  expect(chosenBy(session.progress, 'random').toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 40 }, (_, i) => i),
  );
});

test('a search that is ended while a round trains continues with that round', async () => {
  const [whole, ended] = [await temporary(), await temporary()];
  const search = searchOf({ rounds: 2 });
  await (await sessionIn(whole, search)).session.run();
  const { session } = await sessionIn(ended, search, {
    push: ({ round }: RoundPlace) => {
      if (round === 2) session.abort();
    },
  });
  expect(await session.run()).toBeNull();
  // What the round had trained was thrown away, with the choices that it would have made.
  expect(session.progress.choices.get('thompson')).toHaveLength(1);
  await (await sessionIn(ended, search)).session.run();
  expect(withoutTimes(await readLines(ended))).toEqual(withoutTimes(await readLines(whole)));
});

test('a step follows from what is done: the start, its labels, the rounds of all arms, and nothing while a person is asked', () => {
  const search = searchOf({ beside: ['random'], rounds: 2 });
  const step = (lines: SearchLine[], asked: string[] = [], size = candidates) =>
    nextStep(search, progressOf(search, lines), { candidates: size, asked: new Set(asked) });
  const time = '2026-01-01T00:00:00Z';
  const choice = (arm: string, round: number, indices: number[]): SearchLine => ({
    type: 'choice',
    arm,
    round,
    indices,
    time,
    scores: [],
    means: [],
    deviations: [],
    noises: [],
    metrics: {},
    seconds: { train: 0, choose: 0 },
  });
  const labels = (...indices: number[]): SearchLine => ({
    type: 'labels',
    indices,
    values: indices.map(() => 0),
    time,
  });
  const start: SearchLine = { type: 'start', indices: [4, 7], time };
  expect(step([])).toEqual({ kind: 'start' });
  expect(step([start, labels(4)])).toEqual({ kind: 'label', name: 'start', indices: [4, 7], choice: null });
  expect(step([start], ['start'])).toBeNull();
  const begun = [start, labels(4, 7)];
  expect(step(begun)).toEqual({ kind: 'round', arm: 'thompson', round: 1 });
  const chosen = [...begun, choice('thompson', 1, [1])];
  expect(step(chosen)).toMatchObject({ kind: 'label', name: 'thompson-1', indices: [1] });
  // The other arm still chooses, but the next round needs the answers.
  expect(step(chosen, ['thompson-1'])).toEqual({ kind: 'round', arm: 'random', round: 1 });
  expect(step([...chosen, choice('random', 1, [4])], ['thompson-1'])).toBeNull();
  const first = [...chosen, labels(1), choice('random', 1, [4])];
  expect(step(first)).toEqual({ kind: 'round', arm: 'thompson', round: 2 });
  // All three candidates are chosen by the first arm, and by the second too in the end.
  expect(step([start, labels(4, 7), choice('thompson', 1, [1]), labels(1)], [], 3)).toEqual({
    kind: 'round',
    arm: 'random',
    round: 1,
  });
  expect(step([...chosen, labels(1), choice('random', 1, [1])], [], 3)).toBeNull();
});
