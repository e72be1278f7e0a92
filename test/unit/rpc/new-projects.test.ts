import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { tableProfileSchema } from '../../../core/preprocessing/profile.ts';
import { planProject } from '../../../core/preprocessing/plans/project-plan.ts';
import { projectSource } from '../../../core/preprocessing/plans/project-source.ts';
import { Projects } from '../../../src-main/rpc/projects/projects.ts';
import { trustOf } from '../../../src-main/trust/project-trust.ts';
import { openService } from './page.ts';

/** 40 rows of a number and a class; the numbers of both classes overlap. */
const rows = (date = (_i: number) => '2021-01-01') =>
  ['size,day,kind', ...Array.from({ length: 40 }, (_, i) => `${(i * 7) % 40},${date(i)},${'ab'[i % 2]}`)].join('\n');

async function openWithTable(content = rows()) {
  const opened = await openService();
  const path = join(opened.home, 'plants.csv');
  await writeFile(path, content);
  return { ...opened, hub: opened.page.hub, path };
}

it('a file by its path is inspected, and becomes a project that is trusted and remembered', async () => {
  const { hub, home, path, page } = await openWithTable();
  const inspection = { file: { path }, reading: {} };
  const { profile, folder } = await hub.inspectData(inspection);
  expect(page.inspections.at(-1)).toEqual({ doing: 'comparing columns and rows', sample: null });
  expect(folder).toBe(join(home, 'plants'));
  expect(profile).toMatchObject({ target: { name: 'kind' }, reading: { file: 'plants.csv', rows: 40 } });
  const roles = { size: 'weights' as const, day: 'category' as const };
  const retyped = { ...inspection, reading: { columns: { day: 'category' as const } } };
  const card = await hub.createProject({ ...retyped, folder, roles });
  expect(card).toMatchObject({ folder, isTrusted: true, isOpened: true, error: null, task: 'classification' });
  expect(trustOf(folder).by).not.toBeNull();
  expect((await hub.projects()).map((own) => own.folder)).toContain(folder);
  const plan = planProject(tableProfileSchema.parse((await hub.inspectData(retyped)).profile), { roles });
  expect(await readFile(join(folder, 'project.ts'), 'utf8')).toBe(projectSource(plan, 'plants.csv', 'Plants'));
  expect((await readdir(folder)).sort()).toContain('plants.csv');
  // The next project from the same file goes elsewhere.
  expect((await hub.inspectData(inspection)).folder).toBe(join(home, 'plants-2'));
}, 60_000);

it('a sent file keeps its name, can be asked about again, and is gone when the page drops it', async () => {
  const { hub, home } = await openWithTable();
  const temporary = join(home, 'temporary');
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const bytes = new TextEncoder().encode(rows((i) => `0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2021`));
  const upload = await hub.openUpload({ name: 'my plants.csv', bytes: bytes.length });
  await expect(hub.inspectData({ file: { upload }, reading: {} })).rejects.toThrow(`Only 0 of ${bytes.length} bytes`);
  await hub.sendPart(upload, bytes);
  const asked = await hub.inspectData({ file: { upload }, reading: {} });
  expect(dirname(asked.folder)).toBe(join(homedir(), 'tutti-projects'));
  expect(asked.profile.findings[0]).toMatchObject({ level: 'question', kind: 'date-format', column: 'day' });
  // Where the hub keeps it says nothing to the user.
  expect(asked.profile.findings[0].message).toMatch(/^my plants\.csv, line \d+, column 2 \(day\): /);
  const reading = { dateFormat: { day: 'DD/MM/YYYY' as const } };
  const settled = await hub.inspectData({ file: { upload }, reading });
  expect(settled.profile.findings.filter(({ level }) => level === 'question')).toEqual([]);
  const folder = join(home, 'from-sent');
  await hub.createProject({ file: { upload }, reading, folder, roles: {} });
  expect(await readdir(folder)).toContain('my plants.csv');
  await hub.dropUpload(upload);
  const left = await readdir(temporary, { recursive: true });
  expect(left.filter((name) => name.includes('question'))).toEqual([]);
}, 60_000);

it('an inspection is ended by Cancel and by the next one', async () => {
  const { hub, path, page } = await openWithTable();
  const first = hub.inspectData({ file: { path }, reading: {} });
  const second = hub.inspectData({ file: { path }, reading: { header: true } });
  await expect(first).rejects.toThrow('Reading the file was cancelled.');
  await hub.stopInspecting();
  await expect(second).rejects.toThrow('Reading the file was cancelled.');
  const { profile } = await hub.inspectData({ file: { path }, reading: {} });
  expect(profile).toMatchObject({ reading: { rows: 40 } });
  // A page says that nothing is under way any more before it asks again: what was read is not read again.
  const told = page.inspections.length;
  await hub.stopInspecting();
  expect((await hub.inspectData({ file: { path }, reading: {} })).profile).toEqual(profile);
  expect(page.inspections.length).toBe(told);
}, 60_000);

it('refuses a folder with files, a relative folder, a file that is missing, and choices that do not fit', async () => {
  const { hub, home, path } = await openWithTable();
  const project = { file: { path }, reading: {}, folder: join(home, 'new'), roles: {} };
  await expect(hub.createProject({ ...project, folder: home })).rejects.toThrow('holds files, such as ');
  await expect(hub.createProject({ ...project, folder: 'new' })).rejects.toThrow('"new" is no absolute path.');
  await expect(hub.createProject({ ...project, task: 'heteroscedastic-regression' })).rejects.toThrow(
    '"kind" holds no numbers',
  );
  await expect(hub.inspectData({ file: { path: join(home, 'none.csv') }, reading: {} })).rejects.toThrow(
    /none\.csv: it, or a folder on the way to it, does not exist/,
  );
  expect((await readdir(home)).filter((name) => name === 'new')).toEqual([]);
}, 60_000);

it('a project that is written but cannot be loaded is remembered, and its card says why', async () => {
  const { hub, home, path } = await openWithTable();
  const described = vi.spyOn(Projects.prototype, 'describe').mockRejectedValue(new Error('No memory is left.'));
  const folder = join(home, 'written');
  const card = await hub.createProject({ file: { path }, reading: {}, folder, roles: {} });
  expect(card).toMatchObject({ folder, isOpened: true, error: 'No memory is left.' });
  described.mockRestore();
  expect((await hub.projects()).map((own) => own.folder)).toContain(folder);
}, 60_000);
