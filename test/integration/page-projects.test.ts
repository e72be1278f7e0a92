import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectBlocks } from '../unit/docs/code-blocks.ts';
import { projectFolder, train, useHub } from './harness.ts';
import { drawShapes } from './projects/shapes/draw-shapes.ts';

const { hub } = useHub();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-pages-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rows = (count: number, row: (index: number) => (string | number)[], separator = ','): string =>
  Array.from({ length: count }, (_, index) => `${row(index).join(separator)}\n`).join('');

/** Hours of a day each, without a daylight-saving gap. */
const hourOf = (index: number): string => new Date(Date.UTC(2026, 0, 1) + index * 3_600_000).toISOString();

/** Small data under the names and with the columns that the pages give. */
async function writeData(project: string): Promise<void> {
  await cp(join(projectFolder('passengers'), 'passengers.csv'), join(project, 'passengers.csv'));
  await drawShapes(join(project, 'leaves'), 12, 0);
  const load = rows(300, (hour) => [hourOf(hour), 50 + 10 * Math.sin(hour / 4), 10 + (hour % 24)]);
  await writeFile(join(project, 'load.csv'), `hour,load,temperature\n${load}`);
  const review = (index: number) => [
    `Film ${index} was ${index % 2 === 0 ? 'dull' : 'great'}.`,
    index % 2 === 0 ? 'negative' : 'positive',
  ];
  await writeFile(join(project, 'reviews.tsv'), `text\tlabel\n${rows(200, review, '\t')}`);
}

it.each(projectBlocks())('the project of $page at line $line trains as it is printed', async ({ page, line, code }) => {
  const project = join(folder, `${page.replaceAll(/\W/g, '-')}-${line}`);
  await mkdir(project);
  await writeData(project);
  await writeFile(join(project, 'project.ts'), code);
  const { record } = await train(hub(), project, { members: 1, devices: 1, maxSteps: 2 });
  expect(record.error).toBeNull();
  expect(record).toMatchObject({ status: 'finished', summary: { steps: 2 } });
});
