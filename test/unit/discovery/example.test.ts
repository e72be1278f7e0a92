import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { downloadScreen } from '../../../examples/04_hts_hit_finding/fetch-screen.ts';
import { hitsFigure } from '../../../examples/04_hts_hit_finding/figures.ts';
import { hitsIn, meanAndError, tableOfHits } from '../../../examples/04_hts_hit_finding/hits.ts';
import { type Screen, screens } from '../../../examples/04_hts_hit_finding/screens.ts';
import project from '../../../examples/04_hts_hit_finding/project.ts';
import { runConfigSchema } from '../../../core/protocol/run/config.ts';

test('the example reads its sample: 60 of 599 molecules act, and one text is no SMILES', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'tutti-screen-'));
  onTestFinished(() => rm(cache, { recursive: true }));
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const context = { hyperparameters: project.hyperparameters.parse({}), config: runConfigSchema.parse({}), seed: 1 };
  const { train, pool } = await project.data({ ...context, folders: { lookup: null, cache } });
  expect(train.length).toBe(599);
  expect(train.featureShape).toEqual([1024]);
  expect([...train.targets].filter((label) => label === 1)).toHaveLength(60);
  expect(pool?.texts?.smiles).toHaveLength(599);
  expect(pool?.excluded).toEqual([expect.stringContaining('"Cc1ccc([B-2]2(c3ccc(C)cc3)=NCCO2)cc1"')]);
  warn.mockRestore();
});

/** In the format of the Therapeutics Data Commons. */
const published = 'Drug_ID\tDrug\tY\n1.0\t"CCO"\t0\n2.0\t"CC(=O)Oc1ccccc1C(=O)O"\t1\n3.0\t"c1ccsc1"\t0\n';

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-screen-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('the example reads the Cav3 screen in the format in which it is published, and says how to get it', async () => {
  const folder = await temporary();
  const hyperparameters = project.hyperparameters.parse({ screen: 'cav3' });
  const context = { hyperparameters, config: runConfigSchema.parse({}), seed: 1 };
  const folders = { lookup: folder, cache: join(folder, 'cache') };
  await expect(project.data({ ...context, folders })).rejects.toThrow('download.ts cav3 <folder>');
  await mkdir(join(folder, 'molecules'));
  await writeFile(join(folder, 'molecules', 'cav3.tsv'), published);
  const { train, pool } = await project.data({ ...context, folders });
  expect([...train.targets]).toEqual([0, 1, 0]);
  expect(pool?.texts?.smiles).toEqual(['CCO', 'CC(=O)Oc1ccccc1C(=O)O', 'c1ccsc1']);
});

test('a screen is downloaded whole and checked, or not at all', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/small' ? 200 : 404;
    response.end(request.headers['user-agent'] === 'tutti-ensembles' ? published : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await temporary();
  const small: Screen = { ...screens.cav3, url: `${at}/small`, molecules: 3, hits: 1 };
  await expect(downloadScreen({ ...small, hits: 2 }, folder)).rejects.toThrow(
    /3 molecules with 1 hits, and the screen .* has 3 with 2/,
  );
  await expect(downloadScreen({ ...small, url: `${at}/missing` }, folder)).rejects.toThrow('status 404');
  const closed = { ...small, url: 'http://127.0.0.1:1/none' };
  await expect(downloadScreen(closed, folder)).rejects.toThrow(/fetch failed .*\nGet .* put it to .*cav3\.tsv/);
  expect(await readdir(join(folder, 'molecules'))).toEqual([]);
  const path = await downloadScreen(small, folder);
  expect(path).toBe(join(folder, 'molecules', 'cav3.tsv'));
  expect(await readFile(path, 'utf8')).toBe(published);
});

test('hits are counted from the lines of a search, with standard errors over its seeds', async () => {
  const folder = await temporary();
  const lines = [
    { type: 'start', indices: [4, 7] },
    { type: 'labels', indices: [4, 7], values: [1, 0] },
    { type: 'choice', arm: 'ucb', indices: [2, 3] },
    { type: 'labels', indices: [2, 3], values: [1, 1] },
    { type: 'choice', arm: 'greedy', indices: [3, 5] },
    { type: 'labels', indices: [5], values: [0] },
  ];
  await writeFile(join(folder, 'rounds.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const hits = await hitsIn(folder);
  expect(hits).toEqual(
    new Map([
      ['ucb', [1, 1, 2, 3]],
      ['greedy', [1, 1, 2, 2]],
    ]),
  );
  // The sample deviation of 3, 6 and 9 is 3; by the root of 3: 1.732.
  expect(meanAndError([3, 6, 9])).toEqual({ mean: 6, error: Math.sqrt(3) });
  const found = new Map([
    ['ucb', [[3], [6], [9]]],
    ['greedy', [[1], [4], [4]]],
  ]);
  expect(tableOfHits(found, [1, 2])).toBe(
    [
      '| acquisition | 1 labels | 2 labels |',
      '| --- | --- | --- |',
      '| ucb | 6.0 ± 1.7 | - |',
      '| greedy | 3.0 ± 1.0 | - |',
      '| ucb − greedy | 3.0 ± 1.0 | - |',
    ].join('\n'),
  );
  expect(hitsFigure('A screen', found).panels[0].marks).toHaveLength(4);
});
