import { progressOf } from '../../../core/discovery/progress.ts';
import type { SearchLine } from '../../../core/discovery/search.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { readAnswers } from '../../../src-main/discovery/person.ts';
import { readLines, readSearch } from '../../../src-main/discovery/search-folder.ts';
import { poolOf, searchOf } from '../../unit/discovery/records.ts';
import { fileTarget, text } from './files.ts';

const time = '2026-01-02T03:04:05.000Z';
const search = searchOf();
const choice = { indices: [2], scores: [NaN], means: [0.5], deviations: [0.1], noises: [0.25], metrics: { nll: 0.3 } };
const lines: SearchLine[] = [
  { type: 'start', indices: [0, 1], time },
  { type: 'labels', indices: [0, 1], values: [0, 1], time },
  { type: 'choice', arm: 'greedy', round: 1, ...choice, seconds: { train: 1, choose: 0.1 }, time },
];

/** What searches of a pool read. */
export const discoveryTargets = [
  fileTarget({
    name: 'discovery.json',
    reads: 'what decides a search',
    path: 'discovery.json',
    seeds: async () => [text(toJson(search)), text(toJson(searchOf({ goal: { kind: 'minimize', threshold: 2 } })))],
    read: (folder) => readSearch(folder),
  }),
  fileTarget({
    name: 'rounds.jsonl',
    reads: 'the lines of a search',
    path: 'rounds.jsonl',
    seeds: async () => [text(`${lines.map((line) => toJson(line)).join('\n')}\n`)],
    read: async (folder) => progressOf(search, await readLines(folder)),
  }),
  fileTarget({
    name: 'answers',
    reads: 'labels of a person',
    path: 'answers.csv',
    seeds: async () => [text('index,name,label\n3,"a ""b""",1\n4,c,\n')],
    read: (_folder, file) => readAnswers(file, poolOf()),
  }),
];
