import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openService, type TestPage } from '../../unit/rpc/page.ts';
import { tinyProject } from '../../unit/rpc/tiny-project.ts';

/** Limits far shorter than the pause, so that only holding them keeps the run alive. */
const limits = { silenceMs: 4000, firstCollectiveMs: 4000, collectiveMs: 4000 };
const pausedMs = 6000;
/** 60 samples in batches of 16. */
const stepsPerEpoch = 4;

async function finalWeights(page: TestPage, id: string): Promise<Buffer[]> {
  const { folder } = await page.hub.run(id);
  const cells = (await page.hub.checkpoints(id)).cells.filter(({ record }) => record.name === 'final');
  return Promise.all(
    cells.map(({ record: { rank } }) => readFile(join(folder, 'checkpoints', `rank-${rank}`, 'final.safetensors'))),
  );
}

it('a paused run does nothing, outlives every limit, and ends like an unpaused run', async () => {
  const { page, errors } = await openService();
  const projectFolder = tinyProject;
  const overrides = { seed: 7, maxEpochs: 60, timeouts: limits };
  const start = (name: string) => page.hub.startRun({ projectFolder, overrides, name, out: null });
  const { id } = await start('paused');
  await page.hub.watch(id);
  const ranks = async () => (await page.hub.run(id)).ranks;
  const atRest = async () => (await ranks()).find(({ state }) => state === 'paused');
  await expect.poll(() => page.updates.some(({ type }) => type === 'points')).toBe(true);
  await page.hub.control(id, { action: 'pause' });
  await expect.poll(atRest).toBeDefined();
  const first = await atRest();
  await setTimeout(pausedMs);
  const step = first?.step ?? NaN;
  expect((await ranks()).find(({ rank }) => rank === first?.rank)).toMatchObject({ state: 'paused', step });
  // The other may continue up to the next rendezvous, where it waits for the first.
  const rendezvous = Math.ceil(step / stepsPerEpoch) * stepsPerEpoch;
  for (const other of await ranks()) expect(other.step).toBeLessThanOrEqual(rendezvous);
  await page.hub.control(id, { action: 'resume' });
  await expect.poll(() => page.updates.at(-1)?.type).toBe('ended');

  const view = await page.hub.run(id);
  expect(view.record).toMatchObject({ status: 'finished', error: null, summary: { steps: 60 * stepsPerEpoch } });
  expect(view.events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['paused', 'resumed']));
  const other = await start('never paused');
  await page.hub.watch(other.id);
  await expect.poll(async () => (await page.hub.run(other.id)).record.status).toBe('finished');
  const weights = await finalWeights(page, id);
  expect(weights).toHaveLength(2);
  expect(weights).toEqual(await finalWeights(page, other.id));
  expect(errors).toEqual([]);
}, 90_000);
