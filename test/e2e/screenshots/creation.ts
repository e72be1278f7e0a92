import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect } from '../support/expect.ts';
import type { Camera, Shot } from './camera.ts';

/** The steps of the page that makes projects from data: of a table, of a folder of images, and of series. */

const templates = join(import.meta.dirname, '..', '..', '..', 'templates');
const stations = ['North', 'South'];
const dayMs = 86_400_000;
const days = 150;

/** Two stations each day, the newest first, with gaps in the temperature, and loads such as 1,204. */
function loads(): string {
  const rows = Array.from({ length: days }, (_, i) => days - 1 - i).flatMap((day) =>
    stations.map((station, s) => {
      const date = new Date(Date.UTC(2024, 0, 1) + day * dayMs).toISOString().slice(0, 10);
      const season = Math.sin((2 * Math.PI * day) / 7 + s);
      const temperature = day % 31 === 5 ? 'NA' : (8 + day / 12 + 3 * season).toFixed(1);
      return [date, station, temperature, `${1 + s},${Math.round(420 + 90 * season)}`].join(';');
    }),
  );
  return ['date;station;temperature;load', ...rows].join('\n');
}

export async function takeCreation(page: Page, camera: Camera, home: string): Promise<void> {
  const series = join(home, 'loads.csv');
  await writeFile(series, loads());
  for (const shot of [
    ...tableSteps(page, join(templates, 'tabular', 'plants.csv')),
    ...imageSteps(page, join(templates, 'images', 'images')),
    ...seriesSteps(page, series),
  ]) {
    await camera.take(shot);
  }
}

const addressOf = (path: string): string => `/create?path=${encodeURIComponent(path)}`;
const shows = (page: Page, region: string) => () => expect(page.getByRole('region', { name: region })).toBeVisible();

async function goOn(page: Page, heading: string): Promise<void> {
  await page.getByRole('button', { name: /^Next: / }).click();
  await expect(page.getByRole('heading', { name: heading, exact: true })).toBeVisible();
}

function tableSteps(page: Page, path: string): Shot[] {
  return [
    { name: 'create', address: addressOf(path), prepare: shows(page, 'Columns of the file') },
    { name: 'create-columns', prepare: () => goOn(page, 'Target and columns') },
    { name: 'create-split', prepare: () => goOn(page, 'Split and model') },
    {
      name: 'create-project',
      prepare: async () => {
        await goOn(page, 'The project');
        await page.getByLabel('New folder of the project').fill('/home/me/plants');
      },
    },
  ];
}

function imageSteps(page: Page, path: string): Shot[] {
  return [
    { name: 'create-images', address: addressOf(path), prepare: shows(page, 'Classes of the images') },
    { name: 'create-images-split', prepare: () => goOn(page, 'Splits and model') },
  ];
}

function seriesSteps(page: Page, path: string): Shot[] {
  return [
    { name: 'create-series', address: addressOf(path), prepare: shows(page, 'Columns of the file') },
    { name: 'create-series-columns', prepare: () => goOn(page, 'Target and columns') },
    { name: 'create-series-split', prepare: () => goOn(page, 'Split and model') },
  ];
}
