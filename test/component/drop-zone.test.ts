import { buffer } from 'node:stream/consumers';
import { flushPromises } from '@vue/test-utils';
import { expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import DropZone from '../../src-renderer/components/frame/DropZone.vue';
import { useGivenFileStore } from '../../src-renderer/composables/use-projects.ts';
import { useToastsStore } from '../../src-renderer/stores/toasts.ts';
import { mountPage } from './mount-page.ts';

async function zipOf(name: string, paths: readonly string[]): Promise<File> {
  const zip = new ZipFile();
  for (const path of paths) zip.addBuffer(Buffer.from('x,y\n1,2\n'), path);
  zip.end();
  return new File([new Uint8Array(await buffer(zip.outputStream))], name);
}

/** Drops a file on the window of a browser, which reads no entries of folders from it. */
async function drop(file: File) {
  const page = await mountPage(
    DropZone,
    {},
    {
      openUpload: () => 'upload-1',
      importRun: () => ({ id: 'run-1', isNew: true }),
    },
  );
  const dataTransfer = { types: ['Files'], files: { item: () => file }, items: [] };
  window.dispatchEvent(Object.assign(new Event('drop', { cancelable: true }), { dataTransfer }));
  return page;
}

it.each([
  ['plants.csv', ['']],
  ['Plants.XLSX', ['']],
  ['plants.zip', ['data/plants.csv', '__MACOSX/data/._plants.csv']],
  ['plants.zip', ['plants.xlsx']],
])('%s of %j becomes a table of the page New from data', async (name, paths) => {
  const file = name.endsWith('.zip') ? await zipOf(name, paths) : new File([], name);
  const { router, calls } = await drop(file);
  await expect.poll(() => router.currentRoute.value.name).toBe('create');
  expect(useGivenFileStore().take()).toBe(file);
  expect(calls).toEqual([]);
});

it.each([
  ['adult.test', '|1x3 Cross validator\n25, Private, <=50K.\n', 'create'],
  ['table without an ending', '\ufeffx,y', 'create'],
  ['paper.pdf', '%PDF-1.7\n\0', 'projects'],
  ['oak.jpg', 'text', 'projects'],
])('%s with %j leads to the page %s: text is a table where the name says nothing else', async (name, text, page) => {
  const { router } = await drop(new File([text], name));
  const toasts = useToastsStore();
  const said = () => [router.currentRoute.value.name, JSON.stringify(toasts.toasts).includes('is no table')];
  await expect.poll(said).toEqual([page, page === 'projects']);
});

it.each([
  ['run.zip', ['run-1/run.json', 'run-1/metrics.csv']],
  ['best.tutti', ['run.json']],
])('%s of %j is imported as a run', async (name, paths) => {
  const { router, calls } = await drop(await zipOf(name, paths));
  await expect.poll(() => router.currentRoute.value.fullPath).toBe('/runs/run-1');
  expect(calls.find(([method]) => method === 'importRun')?.[1]).toEqual({ upload: 'upload-1', name });
});

it.each([
  ['tables.zip', ['a.csv', 'b.csv'], 'Unpack it, and give one of its tables.'],
  ['photos.zip', ['oak/1.jpg'], 'give the folder of its images.'],
])('%s of %j is refused with the remedy', async (name, paths, remedy) => {
  const { router, calls } = await drop(await zipOf(name, paths));
  const toasts = useToastsStore();
  await expect.poll(() => JSON.stringify(toasts.toasts)).toContain(remedy);
  await flushPromises();
  expect(router.currentRoute.value.fullPath).toBe('/');
  expect(calls).toEqual([]);
});
