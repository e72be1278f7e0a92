import { readJournal } from '../../../core/studies/optuna/read-journal.ts';
import { parseParameter } from '../../../core/studies/space/parse.ts';
import { searchSpaceSchema } from '../../../core/studies/space/schema.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import type { StudyLine } from '../../../core/protocol/studies/study-line.ts';
import { readStudy, studyPaths } from '../../../src-main/studies/study-folder.ts';
import { StudyStore } from '../../../src-main/studies/study-store.ts';
import { studyOf } from '../../unit/studies/studies.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { fileTarget, text } from './files.ts';

const journal: FuzzTarget = {
  name: 'optuna-journal',
  reads: 'journals of Optuna',
  seeds: async () => [await readFile(new URL('../../golden/search/journal.jsonl', import.meta.url))],
  run: (bytes) => readJournal(bytes.toString('utf8')),
};

const parameters: FuzzTarget = {
  name: 'search-parameter',
  reads: 'parameters of a study on the command line',
  seeds: async () => [
    text('weightDecay=log(1e-5,30)'),
    text('units=int(16,256,16) when optimizer.kind=sgd,"a,b"'),
    text('activation=choice(relu,"tan\\"h",3,true)'),
  ],
  run: (bytes) => {
    const { path, parameter } = parseParameter(bytes.toString('utf8'));
    const space = searchSpaceSchema.safeParse(Object.fromEntries([[path, parameter]]));
    if (space.success) orderSpace(space.data);
  },
};

const time = '2026-01-02T03:04:05.000Z';
const part = { split: 0, seed: 0 };
const lines: StudyLine[] = [
  { type: 'trials', count: 3, time },
  { type: 'enqueued', values: { 'optimizer.learningRate': 0.1 }, time },
  { type: 'begin', work: 0, number: 0, values: { width: 3 }, isEnqueued: false, until: null, worker: 'a', time },
  { type: 'run', number: 0, part, run: 'run-1', ranks: null, devices: ['cpu:0'], time },
  { type: 'report', number: 0, step: 2, value: NaN, time },
  { type: 'scores', number: 0, part, scores: [{ metric: 'nll', ensemble: 0.3, meanMember: Infinity }], time },
  { type: 'claim', work: 0, worker: 'b', time },
];

const study = fileTarget({
  name: 'study.json',
  reads: 'what a study searches',
  path: 'study.json',
  seeds: async () => [text(toJson(studyOf()))],
  read: (folder) => readStudy(folder),
});

const trials = fileTarget({
  name: 'trials.jsonl',
  reads: 'the log of a study',
  path: 'trials.jsonl',
  prepare: (folder) => writeFile(studyPaths(folder).study, toJson(studyOf())),
  seeds: async () => [text(`${lines.map((line) => toJson(line)).join('\n')}\n`)],
  read: (folder) => StudyStore.open(folder),
});

/** What studies read. */
export const searchTargets: FuzzTarget[] = [journal, parameters, study, trials];
