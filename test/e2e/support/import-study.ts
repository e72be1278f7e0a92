import { basename } from 'node:path';
import type { Page } from '@playwright/test';
import { writeJournal } from '../../../core/studies/optuna/write-journal.ts';
import { suggestQuasiRandom } from '../../../core/studies/samplers/quasi-random.ts';
import { orderSpace } from '../../../core/studies/space/space.ts';
import type { Trial } from '../../../core/studies/trial.ts';
import { expect } from './expect.ts';

const space = orderSpace({
  'optimizer.learningRate': { kind: 'log', low: 1e-3, high: 1 },
  'optimizer.weightDecay': { kind: 'log', low: 1e-5, high: 1 },
  batchSize: { kind: 'int', low: 10, high: 50, step: 10 },
});

/** A loss with a minimum inside the space, as a training might have it after each of five epochs. */
function trialOf(number: number): Trial {
  const values = suggestQuasiRandom({ space, directions: ['minimize'], seed: 1, trials: [], number }) ?? {};
  const distance = (path: string, best: number): number => Math.log(Number(values[path]) / best) ** 2;
  const loss = 0.4 + 0.03 * distance('optimizer.learningRate', 0.05) + 0.004 * distance('optimizer.weightDecay', 0.01);
  const reports = Array.from({ length: 5 }, (_, index) => ({ step: index + 1, value: loss + 0.5 / (index + 1) - 0.1 }));
  return { number, state: 'complete', values, objectives: [loss], reports };
}

/**
 * Imports a study of 40 trials of an example on the page of studies, as a user does, so that nothing trains.
 * @returns its id, with its page open
 */
export async function importStudy(page: Page, project: string): Promise<string> {
  const trials = Array.from({ length: 40 }, (_, number) => trialOf(number));
  const journal = writeJournal('learning rate and decay', ['minimize'], space, trials);
  await page.getByRole('link', { name: 'Studies' }).first().click();
  await page.getByRole('button', { name: 'Import from Optuna' }).click();
  const file = { name: 'study.log', mimeType: 'text/plain', buffer: Buffer.from(journal) };
  await page.getByLabel('Journal file').setInputFiles(file);
  await page.getByLabel('Project', { exact: true }).selectOption(project);
  await expect(page.getByLabel('Metric 1', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.waitForURL(/#\/studies\/[\w-]+$/);
  return basename(page.url());
}
