import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
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
