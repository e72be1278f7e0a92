import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeFileAtomic } from '../../../../core/node/atomic-file.ts';
import { readOwnText } from '../../../../src-main/store/runs/own-files.ts';
import { temporaryFolder } from '../fixtures.ts';

it('a file is read while it is replaced again and again, and never taken for a link', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'run.json');
  await writeFileAtomic(path, 'old');
  const reading = new AbortController();
  const writing = (async () => {
    while (!reading.signal.aborted) await writeFileAtomic(path, 'new');
  })();
  const texts = new Set<string>();
  for (let read = 0; read < 2000; read += 1) texts.add(await readOwnText(folder, 'run.json'));
  reading.abort();
  await writing;
  expect([...texts].filter((text) => text !== 'old' && text !== 'new')).toEqual([]);
});
