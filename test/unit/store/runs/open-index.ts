import { join } from 'node:path';
import { createRunFolder } from '../../../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../../../src-main/store/index/run-index.ts';
import { runRecord } from '../records.ts';

/** Opens the index of a home folder, adds one run, closes it. */
const [, , home, id] = process.argv;
const index = await RunIndex.open(home);
const folder = join(home, 'runs', id);
const record = runRecord({ id });
await createRunFolder(folder, record);
index.upsert(record, folder);
index.close();
