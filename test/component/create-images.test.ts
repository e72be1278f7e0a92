import { flushPromises } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import { planImages } from '../../core/preprocessing/plans/image-plan.ts';
import { imageFindings, type ImageProfile } from '../../core/preprocessing/image-profile.ts';
import { plannedSource } from '../../core/preprocessing/plans/project-source.ts';
import type { TableProfile } from '../../core/preprocessing/profile.ts';
import CreatePage from '../../src-renderer/views/create/CreatePage.vue';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

describe('the page New from data, with a folder of images', () => {
  const images = {
    kind: 'images',
    folder: 'leaves',
    table: null,
    bytes: 2048,
    splits: [
      { split: 'train', folder: 'Training', images: 100 },
      { split: 'test', folder: 'Testing', images: 30 },
    ],
    classes: [
      { name: 'ash', train: 92, validation: 0, test: 30 },
      { name: 'oak', train: 8, validation: 0, test: 0 },
    ],
    sizes: { smallest: [20, 30], median: [40, 50], largest: [60, 70], distinct: 3 },
    formats: { png: 120, jpeg: 10 },
    channels: { '1': 130 },
    depths: { ushort: 130 },
    maximum: null,
    largestValue: 4000,
    cmyk: 0,
    alpha: 0,
    palette: 0,
    turned: 0,
    paged: 0,
    misnamed: [],
    unreadable: [],
    unreadableCount: 0,
    leftOut: [{ ending: '.gif', reason: 'ending', count: 3, examples: ['Training/ash/a.gif'] }],
  } satisfies Omit<ImageProfile, 'findings'>;
  /** Twelve bits are a question until the maximum is known. */
  const profileFor = (maximum: number | null): ImageProfile => {
    const own = { ...images, maximum };
    return { ...own, findings: imageFindings(own, maximum === null ? 4095 : null) };
  };
  const hubOfImages: HubAnswers = {
    inspectData: ({ reading }) => ({ profile: profileFor(reading.maximum ?? null), folder: '/home/me/leaves-2' }),
    createProject: ({ folder }) => ({ folder }),
    startRun: () => ({ id: 'run-1', sweep: null }),
    openUpload: () => 'upload-1',
  };
  const openImages = () => mountPage(CreatePage, { address: '/create?path=/data/leaves' }, hubOfImages);
  const cellsOf = (label: string) => {
    const frame = [...document.querySelectorAll(`[aria-label="${label}"] tbody tr`)];
    return frame.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent.trim()));
  };

  it('shows classes by split, what the images have, and each kind of file that is left out', async () => {
    const { wrapper } = await openImages();
    expect(wrapper.text()).toContain('130 images of 2 classes.');
    expect(cellsOf('Classes of the images').map((row) => row.slice(0, 3))).toEqual([
      ['ash', '92', '30'],
      ['oak', '8', '0'],
    ]);
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual([
      '20 × 30 to 60 × 70 pixels, the median 40 × 50',
      'PNG (120), JPEG (10)',
      '1',
      '16 bits',
    ]);
    expect(cellsOf('Files that are left out')).toEqual([['.gif', '3', 'no format that is read', 'Training/ash/a.gif']]);
    expect(wrapper.findAll('[aria-label=Findings] > li').map((item) => item.attributes('data-level'))).toEqual(
      expect.arrayContaining(['question', 'warning', 'note']),
    );
  });

  it('asks what becomes 255, counts the images of the splits, and writes the code that it shows', async () => {
    const { wrapper, calls, router } = await openImages();
    const next = () => buttonNamed('Next: splits and model');
    expect(next().disabled).toBe(true);
    await wrapper.get('input[value="4095"]').trigger('change');
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toEqual({
      file: { path: '/data/leaves' },
      reading: { maximum: 4095 },
    });
    next().click();
    await flushPromises();
    expect(document.activeElement?.textContent).toBe('Splits and model');
    // A fifth of the 100 training images validates; a folder holds the test.
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual(
      expect.arrayContaining(['80 images', '20 images', '30 images']),
    );
    expect(wrapper.get('[aria-label=Reasons]').text()).toContain('Images become 40 × 40 pixels');
    buttonNamed('Next: the project').click();
    await flushPromises();
    const source = plannedSource(planImages(profileFor(4095)), 'leaves', 'Leaves 2');
    expect(wrapper.get('pre').text()).toBe(source.trim());
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(calls.find(([method]) => method === 'createProject')?.[1]).toEqual({
      file: { path: '/data/leaves' },
      reading: { maximum: 4095 },
      folder: '/home/me/leaves-2',
      roles: {},
    });
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/runs/run-1');
  });

  it('sends the files of a folder that is chosen in a browser, with their paths in it', async () => {
    const { wrapper, calls } = await mountPage(CreatePage, { address: '/create' }, hubOfImages);
    const input = wrapper.get<HTMLInputElement>('input[webkitdirectory]');
    const files = ['leaves/ash/1.png', 'leaves/oak/2.png'].map((path) =>
      Object.defineProperty(new File(['abc'], 'x.png'), 'webkitRelativePath', { value: path }),
    );
    Object.defineProperty(input.element, 'files', { value: files });
    await input.trigger('change');
    await expect
      .poll(() => calls.find(([method]) => method === 'inspectData')?.[1])
      .toMatchObject({
        file: { upload: 'upload-1' },
      });
    expect(calls.find(([method]) => method === 'openUpload')?.[1]).toEqual({
      name: 'leaves',
      bytes: 6,
      files: [
        { path: 'ash/1.png', bytes: 3 },
        { path: 'oak/2.png', bytes: 3 },
      ],
    });
  });
});

describe('the page New from data, with a table that names images', () => {
  const column = { present: 40, missing: {}, misfits: [], misfitCount: 0, numberFormat: null, dateFormat: null };
  const kinds = { ...column, distinct: 2, countsRows: false, distinctValues: 2, range: null, examples: ['ash', 'oak'] };
  const photo = {
    ...kinds,
    name: 'photo',
    position: 1,
    type: 'category',
    distinct: 40,
    distinctValues: 40,
    bars: [],
  } as const;
  const kind = {
    ...kinds,
    name: 'kind',
    position: 2,
    type: 'category',
    bars: ['ash', 'oak'].map((label) => ({ label, count: 20 })),
  } as const;
  const columns = [{ ...photo, examples: ['1.png', '2.png'], bars: [] }, kind, { ...kind, name: 'tree', position: 3 }];
  const message = '"photo" names images, none of which is beside the table.';
  const table: TableProfile = {
    kind: 'table',
    bytes: 900,
    sampleBytes: null,
    reading: {
      file: 'labels.csv',
      rows: 40,
      encoding: 'utf-8',
      hasMark: false,
      delimiter: ',',
      sheet: null,
      range: null,
      header: true,
      comments: [],
      missingValues: [''],
      emptyRows: 0,
      columns: columns.map(({ name, position, type, numberFormat, dateFormat, missing, distinct, countsRows }) => {
        return { name, position, type, numberFormat, dateFormat, missing, distinct, countsRows };
      }),
      leftOut: [],
    },
    columns,
    target: { name: 'kind', reason: 'as you say' },
    time: null,
    split: null,
    findings: [{ level: 'warning', kind: 'image-names', column: 'photo', message, choices: null, option: null }],
  };
  const size: [number, number] = [16, 16];
  const named: ImageProfile = {
    kind: 'images',
    folder: 'photos',
    table: { profile: { ...table, findings: [] }, column: 'photo', splitColumn: null, folders: ['.'], problems: [] },
    bytes: 2048,
    splits: [{ split: 'train', folder: '.', images: 40 }],
    classes: ['ash', 'oak'].map((name) => ({ name, train: 20, validation: 0, test: 0 })),
    sizes: { smallest: size, median: size, largest: size, distinct: 1 },
    formats: { png: 40 },
    channels: { '3': 40 },
    depths: { uchar: 40 },
    maximum: null,
    largestValue: null,
    cmyk: 0,
    alpha: 0,
    palette: 0,
    turned: 0,
    paged: 0,
    misnamed: [],
    unreadable: [],
    unreadableCount: 0,
    leftOut: [],
    findings: [],
  };
  const hub: HubAnswers = {
    inspectData: ({ reading }) => ({
      profile: reading.images === '../photos' ? named : table,
      folder: '/home/me/labels',
    }),
    createProject: ({ folder }) => ({ folder }),
  };

  it('looks into the folder that is given, and plans a network for images', async () => {
    const { wrapper, calls } = await mountPage(CreatePage, { address: '/create?path=/data/labels.csv' }, hub);
    expect(wrapper.text()).toContain(message);
    await wrapper.get('#images-folder').setValue('../photos');
    buttonNamed('Look there').click();
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toEqual({
      file: { path: '/data/labels.csv' },
      reading: { images: '../photos', columns: {} },
    });
    expect(wrapper.text()).toContain('40 images of 2 classes.');
    buttonNamed('Next: target and columns').click();
    await flushPromises();
    const roleOf = (name: string) => wrapper.get<HTMLSelectElement>(`[aria-label="Role of ${name}"]`).element.value;
    expect([roleOf('photo'), roleOf('tree')]).toEqual(['image', 'ignore']);
    expect(wrapper.get('[aria-label=Reasons]').text()).toContain('Predicts "kind" of the images that "photo" names');
    buttonNamed('Next: split and model').click();
    await flushPromises();
    // A fifth of 40 each.
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual(
      expect.arrayContaining(['24 images', '8 images', '8 images']),
    );
    buttonNamed('Next: the project').click();
    await flushPromises();
    expect(wrapper.get('pre').text()).toContain("imageTable(join(import.meta.dirname, 'labels.csv'), {");
    buttonNamed('Create').click();
    await flushPromises();
    expect(calls.find(([method]) => method === 'createProject')?.[1]).toEqual({
      file: { path: '/data/labels.csv' },
      reading: { images: '../photos', columns: {} },
      folder: '/home/me/labels',
      roles: {},
    });
  });
});
