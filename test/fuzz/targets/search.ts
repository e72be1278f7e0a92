import { readFile } from 'node:fs/promises';
import { readJournal } from '../../../core/search/optuna/read-journal.ts';
import { parseParameter } from '../../../core/search/space/parse.ts';
import { searchSpaceSchema } from '../../../core/search/space/schema.ts';
import { orderSpace } from '../../../core/search/space/space.ts';
import type { FuzzTarget } from '../engine/target.ts';
import { text } from './files.ts';

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

/** What studies read. */
export const searchTargets: FuzzTarget[] = [journal, parameters];
