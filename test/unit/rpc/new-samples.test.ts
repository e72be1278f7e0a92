import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Preprocessing, SeriesStep } from '../../../core/preprocessing/schema.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';

const id = 'run-1';
const hash = 'a'.repeat(64);
const unknown = { memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
const device = { id: 'cpu:0', kind: 'cpu', index: 0, name: 'CPU', ...unknown } as const;

/** A run of one member whose model takes inputs of these shapes. */
async function openRun(shapes: readonly (readonly (number | null)[])[], preprocessing?: Preprocessing) {
  const opened = await openService();
  const folder = join(opened.home, 'home', 'runs', id);
  await createRunFolder(folder, runRecord({ status: 'finished', plan: [{ rank: 0, wave: 0, device }] }));
  for (const path of ['checkpoints/rank-0', 'models/rank-0']) await mkdir(join(folder, path), { recursive: true });
  const saved = { monitor: null, score: null, sha256: hash, bytes: 1, savedAt: '2026-01-02T03:05:05.000Z' };
  const checkpoint = { format: 1, rank: 0, name: 'final', epoch: 0, step: 1, model: hash, ...saved };
  await writeFile(join(folder, 'checkpoints', 'rank-0', 'final.json'), JSON.stringify(checkpoint));
  const layers = [...shapes.map((shape) => ({ config: { batch_input_shape: shape } })), { config: { units: 1 } }];
  await writeFile(join(folder, 'models', 'rank-0', `${hash}.json`), JSON.stringify({ config: { layers } }));
  if (preprocessing !== undefined) await writeFile(join(folder, 'preprocessing.json'), JSON.stringify(preprocessing));
  await opened.page.hub.runs({});
  return opened.page.hub;
}

describe('the form for new samples', () => {
  it('has the fields of the columns that the run kept', async () => {
    const hub = await openRun([[null, 4]], {
      format: 1,
      steps: [
        {
          kind: 'table',
          columns: [
            {
              name: 'age',
              type: 'number',
              impute: { value: 30, indicator: true },
              mean: 31.5,
              std: 2,
              smallest: -50,
              largest: 50,
            },
            { name: 'port', type: 'category', impute: null, categories: ['C', 'S'] },
          ],
        },
      ],
    });
    expect(await hub.sampleForm(id)).toEqual({
      set: 'final',
      ranks: [0],
      fields: [
        { name: 'age', type: 'number', categories: [], mean: 31.5, isOptional: true },
        { name: 'port', type: 'category', categories: ['C', 'S'], mean: null, isOptional: false },
      ],
      series: null,
      takesImages: false,
    });
  });

  it('has numbered fields for a model of few numbers', async () => {
    const { fields } = await (await openRun([[null, 2]])).sampleForm(id);
    expect(fields?.map(({ name, type }) => [name, type])).toEqual([
      ['x0', 'number'],
      ['x1', 'number'],
    ]);
  });

  it.each([
    ['many numbers', [[null, 33]]],
    ['images', [[null, 8, 8, 1]]],
    ['several inputs', [[null, 2], [null, 3]]], // prettier-ignore
    ['any number of features', [[null, null]]],
  ])('has no fields for a model of %s', async (_what, shapes) => {
    expect((await (await openRun(shapes)).sampleForm(id)).fields).toBeNull();
  });

  it('takes images where the run kept their size', async () => {
    const images = { kind: 'images', height: 8, width: 8, channels: 1, fit: 'cover' } as const;
    const hub = await openRun([[null, 8, 8, 1]], { format: 1, steps: [images] });
    expect(await hub.sampleForm(id)).toMatchObject({ fields: null, takesImages: true });
  });

  it('takes steps of series by their columns', async () => {
    const step: SeriesStep = {
      kind: 'series',
      columns: [{ name: 'load', type: 'number' }],
      length: 4,
      time: { name: 'day', type: 'date' },
      entity: { name: 'place', type: 'category' },
      gaps: null,
    };
    const hub = await openRun([[null, 4, 1]], { format: 1, steps: [step] });
    const series = { columns: ['place', 'day', 'load'], entity: 'place', length: 4 };
    expect(await hub.sampleForm(id)).toMatchObject({ fields: null, series, takesImages: false });
  });

  it('names what is missing', async () => {
    const { page, home } = await openService();
    await createRunFolder(join(home, 'home', 'runs', id), runRecord({ status: 'finished' }));
    await page.hub.runs({});
    await expect(page.hub.sampleForm(id)).rejects.toThrow('has no checkpoints ensemble-best, member-best, final');
  });
});
