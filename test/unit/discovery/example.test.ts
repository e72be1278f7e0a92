import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { downloadScreen } from '../../../examples/04_hts_hit_finding/fetch-screen.ts';
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
