import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { ZipFile } from 'yazl';
import { exportRun } from '../../../src-main/export/export-run.ts';
import { createRunFolder, readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';
import { writeTinyProject } from './tiny-project.ts';

/** A run elsewhere and its export. */
async function openWithExport() {
  const opened = await openService();
  const folder = join(opened.home, 'elsewhere');
  await createRunFolder(folder, runRecord({ status: 'finished', endedAt: '2026-01-02T03:06:05.000Z' }));
  const file = join(opened.home, 'run.tutti');
  await exportRun(folder, { to: file, zip: true });
  return { ...opened, hub: opened.page.hub, folder, file };
}

async function zipOf(path: string, files: Record<string, string>): Promise<string> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  await writeFile(path, await buffer(zip.outputStream));
  return path;
}

it('a path leads to a project, a run, or an exported run, which is imported once', async () => {
  const { hub, home, folder, file } = await openWithExport();
  const project = await writeTinyProject(home);
  expect(await hub.openPath(project)).toMatchObject({ kind: 'project', project: { folder: project } });
  expect(await hub.openPath(file)).toEqual({ kind: 'run', id: 'run-1', isImported: true });
  expect((await hub.runs({ limit: 5 })).rows).toMatchObject([{ id: 'run-1', folder: join(home, 'home/runs/run-1') }]);
  expect(await hub.openPath(file)).toEqual({ kind: 'run', id: 'run-1', isImported: false });
  // The same run where it was: a copy of the imported one.
  const copy = await hub.openPath(folder);
  expect(copy).toMatchObject({ kind: 'run', id: expect.stringMatching(/^run-1~/), isImported: false });
  await expect(hub.openPath(join(home, 'none.tutti'))).rejects.toThrow(
    /^Cannot import .*none\.tutti: it, or a folder on the way to it, does not exist/,
  );
  await rename(join(project, 'project.ts'), join(home, 'project.zip'));
  await expect(hub.openPath(join(home, 'project.zip'))).rejects.toThrow('it is no ZIP, or not whole');
}, 30_000);

it('data are told from projects and runs: folders of images, and a table that is packed alone', async () => {
  const { page, home } = await openService();
  const images = join(home, 'leaves');
  await mkdir(join(images, 'seg_train', 'seg_train', 'oak'), { recursive: true });
  await expect(page.hub.openPath(images)).rejects.toThrow('project.ts');
  await writeFile(join(images, 'seg_train', 'seg_train', 'oak', '1.JPG'), '');
  expect(await page.hub.openPath(images)).toEqual({ kind: 'data', path: images });
  const packed = await zipOf(join(home, 'plants.zip'), { 'a/plants.csv': 'x,y', '__MACOSX/a/._plants.csv': '' });
  expect(await page.hub.openPath(packed)).toEqual({ kind: 'data', path: packed });
  const named = async (name: string, content: string) => {
    await writeFile(join(home, name), content);
    return page.hub.openPath(join(home, name));
  };
  for (const name of ['plants.csv', 'adult.test']) {
    expect(await named(name, '25, Private, <=50K.\n')).toEqual({ kind: 'data', path: join(home, name) });
  }
  await expect(named('paper.pdf', '%PDF-1.7\n\0')).rejects.toThrow('a file, not a folder');
  // The page says that it is gone.
  const gone = join(home, 'gone.csv');
  expect(await page.hub.openPath(gone)).toEqual({ kind: 'data', path: gone });
  const others: [Record<string, string>, RegExp][] = [
    [
      { 'b/1.jpg': '', 'b/2.jpg': '' },
      /^other\.zip holds 2 \.jpg \(b\/1\.jpg, b\/2\.jpg\).* give the folder of its images\.$/,
    ],
    [{ 'a.csv': '', 'b.csv': '' }, /holds 2 \.csv \(a\.csv, b\.csv\).* give one of its tables\.$/],
    [{ 'p/project.ts': '', 'p/d.csv': '' }, /open the folder of its project\.$/],
    [{}, /holds no file/],
  ];
  for (const [files, message] of others) {
    await expect(page.hub.openPath(await zipOf(join(home, 'other.zip'), files))).rejects.toThrow(message);
  }
}, 30_000);

it('a browser sends the file, whose name the run notes, and of which nothing remains', async () => {
  const { hub, home, file } = await openWithExport();
  const temporary = join(home, 'temporary');
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const send = async (bytes: Uint8Array): Promise<string> => {
    const upload = await hub.openUpload({ ending: 'zip', bytes: bytes.length });
    await hub.sendPart(upload, bytes);
    return upload;
  };
  const bytes = new Uint8Array(await readFile(file));
  const cut = await send(bytes.slice(0, 300));
  await expect(hub.importRun({ upload: cut, name: 'best.tutti' })).rejects.toThrow(
    /^best\.tutti cannot be imported: it is no ZIP, or not whole/,
  );
  const imported = { upload: await send(bytes), name: 'best.tutti' };
  expect(await hub.importRun(imported)).toEqual({ id: 'run-1', isNew: true });
  const [event] = await readEvents(join(home, 'home/runs/run-1'));
  expect(event).toMatchObject({ kind: 'imported', message: 'Imported from best.tutti.' });
  expect(await hub.importRun({ ...imported, upload: await send(bytes) })).toEqual({ id: 'run-1', isNew: false });
  // The hub keeps an empty folder for files that pages send.
  const left = await readdir(temporary, { recursive: true });
  expect(left.filter((name) => name.includes('question'))).toEqual([]);
});
