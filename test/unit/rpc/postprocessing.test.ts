import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { postprocessingPath } from '../../../core/postprocessing/schema.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { calibratedSet } from '../postprocessing/recorded-file.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';

it('pages read what was fitted for the sets of a run, and hear of a damaged file', async () => {
  const { page, home } = await openService();
  const folder = join(home, 'home', 'runs', 'run-1');
  await createRunFolder(folder, runRecord({ status: 'finished' }));
  await page.hub.runs({});
  expect(await page.hub.postprocessing('run-1')).toEqual([]);

  const fitted = {
    ...calibratedSet,
    conformal: { ...calibratedSet.conformal, thresholds: [Infinity, 0.5], isClassConditional: true },
  };
  const path = join(folder, postprocessingPath('final'));
  await mkdir(dirname(path));
  await writeFile(path, toJson(fitted));
  expect(await page.hub.postprocessing('run-1')).toEqual([fitted]);

  await writeFile(path, toJson({ ...fitted, format: 2 }));
  await expect(page.hub.postprocessing('run-1')).rejects.toThrow(
    /final\.json is damaged: [\s\S]*at format[\s\S]*tutti calibrate/,
  );
});
