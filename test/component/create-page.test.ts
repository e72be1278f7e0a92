import { flushPromises } from '@vue/test-utils';
import { describe, expect, it } from 'vitest';
import type { ColumnProfile, Finding, TableProfile } from '../../core/preprocessing/profile.ts';
import { planProject } from '../../core/preprocessing/plans/project-plan.ts';
import { projectSource } from '../../core/preprocessing/plans/project-source.ts';
import { usualMissingValues } from '../../core/preprocessing/reading.ts';
import type { Inspection } from '../../core/protocol/pages/new-project.ts';
import CreatePage from '../../src-renderer/views/create/CreatePage.vue';
import { buttonNamed, type HubAnswers, mountPage } from './mount-page.ts';

const column = (name: string, position: number, own: Partial<ColumnProfile>): ColumnProfile => ({
  name,
  position,
  type: 'number',
  numberFormat: null,
  dateFormat: null,
  missing: {},
  distinct: null,
  countsRows: false,
  present: 100,
  distinctValues: 100,
  range: null,
  examples: [],
  misfits: [],
  misfitCount: 0,
  bars: [],
  ...own,
});
const columns = [
  column('id', 1, { countsRows: true }),
  column('day', 2, { type: 'date', dateFormat: 'DD/MM/YYYY', distinctValues: 40 }),
  column('size', 3, {
    missing: { NA: 4 },
    present: 96,
    distinctValues: 80,
    range: { smallest: -1.5, median: 0.25, largest: 12 },
    bars: [
      { label: 'from -1.5', count: 90 },
      { label: 'from 6', count: 6 },
    ],
  }),
  column('kind', 4, {
    type: 'category',
    distinct: 2,
    distinctValues: 2,
    examples: ['a', 'b'],
    bars: [
      { label: 'a', count: 70 },
      { label: 'b', count: 30 },
    ],
  }),
];
const finding = (own: Pick<Finding, 'level' | 'kind' | 'column' | 'message'> & Partial<Finding>): Finding => ({
  choices: null,
  option: null,
  ...own,
});
const question = finding({
  level: 'question',
  kind: 'date-format',
  column: 'day',
  message: '"01/02/2021" is the 1st of February or the 2nd of January.',
  choices: ['DD/MM/YYYY', 'MM/DD/YYYY'],
});
const warning = finding({ level: 'warning', kind: 'row-counter', column: 'id', message: '"id" counts the rows.' });

function profileWith(findings: Finding[], target = 'kind'): TableProfile {
  return {
    kind: 'table',
    bytes: 2048,
    sampleBytes: null,
    reading: {
      file: 'plants.csv',
      rows: 100,
      encoding: 'utf-8',
      hasMark: false,
      sheet: null,
      range: null,
      delimiter: ',',
      header: true,
      comments: [],
      missingValues: ['', 'NA'],
      emptyRows: 0,
      columns,
      leftOut: [],
    },
    columns,
    target: { name: target, reason: 'it has the name of a target' },
    time: null,
    split: null,
    findings,
  };
}

/** A hub to which the date's format is an open question until it is told. */
const hub: HubAnswers = {
  inspectData: ({ reading, target }: Inspection) => ({
    profile: profileWith(reading.dateFormat === undefined ? [question, warning] : [warning], target),
    folder: '/home/me/plants',
  }),
  createProject: ({ folder }) => ({ folder }),
  startRun: () => ({ id: 'run-1', sweep: null }),
};
const open = (answers: HubAnswers = {}) =>
  mountPage(CreatePage, { address: '/create?path=/data/plants.csv' }, { ...hub, ...answers });

describe('the page New from data', () => {
  it('shows each column with its type, missing cells, range and bars, and findings with their levels', async () => {
    const { wrapper } = await open();
    const rows = wrapper.findAll('tbody tr').map((row) => row.findAll('th, td').map((cell) => cell.text()));
    expect(rows[2].slice(0, 2)).toEqual(['size', 'number']);
    expect(rows[2].slice(3, 8)).toEqual(['80', '4 ("NA" 4)', '-1.500', '0.2500', '12']);
    expect(rows[3][0]).toMatch(/^kind\s*target$/);
    expect(wrapper.find('[aria-label="Values of size. from -1.5: 90; from 6: 6"]').findAll('rect')).toHaveLength(2);
    expect(wrapper.text()).toContain('plants.csv: 100 rows, UTF-8, separated by commas, names in the first line');
    expect(wrapper.findAll('[aria-label=Findings] > li').map((item) => item.attributes('data-level'))).toEqual([
      'question',
      'warning',
    ]);
  });

  it('waits for the answer to a question, with which the file is read again', async () => {
    const { wrapper, calls } = await open();
    const next = () => buttonNamed('Next: target and columns');
    expect(next().disabled).toBe(true);
    expect(wrapper.text()).toContain('Answer the question first.');
    expect(wrapper.get('fieldset legend').text()).toBe(question.message);
    await wrapper.get('input[value="DD/MM/YYYY"]').trigger('change');
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toMatchObject({
      file: { path: '/data/plants.csv' },
      reading: { dateFormat: { day: 'DD/MM/YYYY' } },
    });
    expect(next().disabled).toBe(false);
    next().click();
    await flushPromises();
    expect(document.activeElement?.textContent).toBe('Target and columns');
    buttonNamed('Back').click();
    await flushPromises();
    expect(document.activeElement?.textContent).toBe('What is in the file');
    buttonNamed('Ask the questions again').click();
    await flushPromises();
    expect(next().disabled).toBe(true);
  });

  it('takes what is said to a warning, with which the file is read again', async () => {
    const sentinel = finding({
      level: 'warning',
      kind: 'sentinel',
      column: 'size',
      message: '-999',
      choices: ['-999'],
    });
    const texts = finding({ level: 'warning', kind: 'missing-texts', column: 'kind', message: 'NA', choices: ['NA'] });
    const { calls } = await open({
      inspectData: () => ({ profile: profileWith([sentinel, texts]), folder: '/home/me/plants' }),
    });
    const missing = () => {
      const [, request] = calls.findLast(([method]) => method === 'inspectData') ?? [];
      return (request as Inspection).reading.missingValues;
    };
    expect(buttonNamed('Next: target and columns').disabled).toBe(false);
    buttonNamed('-999 is a missing value').click();
    await flushPromises();
    expect(missing()).toEqual([...usualMissingValues, '-999']);
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Findings');
    buttonNamed('NA is a value').click();
    await flushPromises();
    expect(missing()).toEqual([...usualMissingValues.filter((text) => text !== 'NA'), '-999']);
  });

  /** Opens a later step. */
  async function openStep(name: string, answers: HubAnswers = {}) {
    const page = await open(answers);
    await page.wrapper.get('input[value="DD/MM/YYYY"]').trigger('change');
    await flushPromises();
    buttonNamed(name).click();
    await flushPromises();
    return page;
  }

  it('proposes roles with reasons, and reads a column by the role that it gets', async () => {
    const { wrapper, calls } = await openStep('2. Target and columns');
    const role = (name: string) => wrapper.get<HTMLSelectElement>(`[aria-label="Role of ${name}"]`);
    expect(['id', 'day', 'size'].map((name) => role(name).element.value)).toEqual(['ignore', 'date', 'number']);
    expect(wrapper.get('[aria-label=Reasons]').text()).toContain('Leaves out "id": "id" counts the rows.');
    await role('size').setValue('category');
    await flushPromises();
    const [, request] = calls.findLast(([method]) => method === 'inspectData') ?? [];
    expect(request).toMatchObject({ reading: { columns: { size: 'category' }, dateFormat: { day: 'DD/MM/YYYY' } } });
    await role('day').setValue('time');
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toMatchObject({ time: 'day' });
    expect(wrapper.text()).toContain('The rows cannot be split by the time "day"');
    await role('day').setValue('date');
    await wrapper.get('#target').setValue('size');
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toMatchObject({ target: 'size' });
    // Numbers with many values are no classes unless the user says so.
    expect(wrapper.get<HTMLSelectElement>('#task').element.value).toBe('heteroscedastic-regression');
    await wrapper.get('#task').setValue('classification');
    expect(wrapper.get<HTMLSelectElement>('#task').element.value).toBe('classification');
  });

  it('asks again where cells do not fit a new role, and the answer takes the place of the role', async () => {
    const misfits = finding({
      level: 'question',
      kind: 'misfits',
      column: 'kind',
      message: '100 of 100 cells of "kind" are no numbers, such as "a".',
      choices: ['missing', 'category', 'ignore'],
    });
    const { wrapper, calls } = await openStep('2. Target and columns', {
      inspectData: ({ reading }) => ({
        profile: profileWith(
          reading.dateFormat === undefined ? [question] : reading.columns?.kind === 'number' ? [misfits] : [],
          'size',
        ),
        folder: '/home/me/plants',
      }),
    });
    await wrapper.get('[aria-label="Role of kind"]').setValue('number');
    await flushPromises();
    expect(buttonNamed('Next: split and model').disabled).toBe(true);
    expect(wrapper.text()).toContain('Go back to the first step to answer it.');
    buttonNamed('Back').click();
    await flushPromises();
    await wrapper.get('input[value=category]').trigger('change');
    await flushPromises();
    expect(calls.findLast(([method]) => method === 'inspectData')?.[1]).toMatchObject({
      reading: { columns: { kind: 'category' } },
    });
    expect(buttonNamed('Next: target and columns').disabled).toBe(false);
  });

  it('says why no model can learn from what is left', async () => {
    const { wrapper } = await openStep('2. Target and columns');
    for (const name of ['day', 'size']) await wrapper.get(`[aria-label="Role of ${name}"]`).setValue('ignore');
    await flushPromises();
    expect(wrapper.text()).toContain('No column is left from which to predict "kind".');
    expect(buttonNamed('Next: split and model').disabled).toBe(true);
  });

  it('counts the rows of the splits', async () => {
    const { wrapper } = await openStep('3. Split and model');
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual(
      expect.arrayContaining(['60 rows', '20 rows', '20 rows']),
    );
    expect(wrapper.text()).toContain('with the classes in the same proportions');
  });

  it('counts the rows of a split by time', async () => {
    const split = { train: 61, validation: 19, validationFrom: '2024-01-25', test: 18, testFrom: '2024-02-02' };
    const time = { name: 'day', reason: 'the rows are the steps of a series', entity: null, series: null, split };
    const { wrapper } = await openStep('3. Split and model', {
      inspectData: ({ reading }) => ({
        profile: { ...profileWith(reading.dateFormat === undefined ? [question] : []), time },
        folder: '/home/me/plants',
      }),
    });
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual(
      expect.arrayContaining(['61 rows', '19 rows', '18 rows']),
    );
    expect(wrapper.text()).toContain('The latest 18 rows by "day" test (from 2024-02-02)');
  });

  it('counts the rows of the splits that a column names, once it has the role', async () => {
    const split = { name: 'day', train: 70, validation: 0, test: 30, other: 0, examples: [], missing: 0 };
    const { wrapper } = await openStep('2. Target and columns', {
      inspectData: ({ reading, split: named }) => ({
        profile: {
          ...profileWith(reading.dateFormat === undefined ? [question] : []),
          split: named === 'day' ? split : null,
        },
        folder: '/home/me/plants',
      }),
    });
    await wrapper.get('[aria-label="Role of day"]').setValue('split');
    await flushPromises();
    buttonNamed('3. Split and model').click();
    await flushPromises();
    expect(wrapper.text()).toContain(
      '"day" names the split of each row: 70 rows train, 30 test. A fifth of the training',
    );
    expect(wrapper.findAll('dd').map((item) => item.text())).toEqual(
      expect.arrayContaining(['56 rows', '14 rows', '30 rows']),
    );
  });

  it("shows the project's code, writes it as chosen, and trains", async () => {
    const { wrapper, calls, router } = await openStep('4. The project');
    const plan = planProject(profileWith([warning]), { roles: {} });
    expect(wrapper.get('pre').text()).toBe(projectSource(plan, 'plants.csv', 'Plants').trim());
    await wrapper.get('#project-folder').setValue('/home/me/my-plants/');
    expect(wrapper.get('pre').text()).toContain("name: 'My plants'");
    await wrapper.get('form').trigger('submit');
    await flushPromises();
    expect(calls.find(([method]) => method === 'createProject')?.[1]).toMatchObject({
      file: { path: '/data/plants.csv' },
      folder: '/home/me/my-plants/',
      reading: { dateFormat: { day: 'DD/MM/YYYY' } },
      roles: {},
    });
    expect(calls.find(([method]) => method === 'startRun')?.[1]).toMatchObject({
      projectFolder: '/home/me/my-plants/',
      overrides: {},
    });
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/runs/run-1');
  });

  it("shows the hub's reason where the project cannot be written, and stays", async () => {
    const { wrapper, router } = await openStep('4. The project', {
      createProject: () => Promise.reject(new Error('/home/me/plants holds files, such as a.txt.')),
    });
    buttonNamed('Create').click();
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toContain('holds files, such as a.txt.');
    expect(router.currentRoute.value.name).toBe('create');
  });

  it('shows why a file cannot be read, and reads it again', async () => {
    let count = 0;
    const { wrapper } = await open({
      inspectData: (inspection) => {
        if (count++ === 0) throw new Error('/data/plants.csv, line 3: a quote is not closed.');
        return hub.inspectData?.(inspection);
      },
    });
    expect(wrapper.get('[role=alert]').text()).toContain('line 3: a quote is not closed.');
    buttonNamed('Try again').click();
    await flushPromises();
    expect(wrapper.find('[role=alert]').exists()).toBe(false);
    expect(wrapper.find('table').exists()).toBe(true);
  });

  it('shows what the beginning of a large file holds while all of it is read, and says how far that is', async () => {
    const reading = Promise.withResolvers<{ profile: TableProfile; folder: string }>();
    const { wrapper, hub: page } = await open({ inspectData: () => reading.promise });
    expect(wrapper.find('table').exists()).toBe(false);
    const sample = { ...profileWith([]), bytes: 500 * 2 ** 20, sampleBytes: 2 ** 22 };
    page.page?.inspecting({ doing: '0 % read', sample });
    await expect.poll(() => wrapper.find('table').exists()).toBe(true);
    expect(wrapper.text()).toContain('These are the first 4 MiB of 500 MiB; the others are not read yet.');
    page.page?.inspecting({ doing: '35 % read', sample: null });
    await expect.poll(() => wrapper.get('.doing [role=status]').text()).toBe('Reading the file: 35 % read');
    expect(wrapper.text()).toContain('The next steps need the whole file.');
    expect(buttonNamed('Next: target and columns').disabled).toBe(true);
    expect(buttonNamed('2. Target and columns').disabled).toBe(true);
    reading.resolve({ profile: { ...profileWith([]), bytes: 500 * 2 ** 20 }, folder: '/home/me/plants' });
    await flushPromises();
    expect(wrapper.text()).toContain('500 MiB.');
    expect(wrapper.text()).not.toContain('not read yet');
    expect(wrapper.find('.doing').exists()).toBe(false);
    buttonNamed('Next: target and columns').click();
    await flushPromises();
    expect(wrapper.get('h2').text()).toBe('Target and columns');
  });

  it('sends a chosen file under its name, says how far it is, and Cancel ends the reading', async () => {
    const reading = Promise.withResolvers<never>();
    let isReading = false;
    const { wrapper, calls } = await mountPage(
      CreatePage,
      { address: '/create' },
      {
        openUpload: () => 'upload-1',
        inspectData: () => ((isReading = true), reading.promise),
        stopInspecting: () => isReading && reading.reject(new Error('Reading the file was cancelled.')),
      },
    );
    const input = wrapper.get<HTMLInputElement>('input[type=file]');
    Object.defineProperty(input.element, 'files', { value: { item: () => new File(['a,b\n1,2\n'], 'my plants.csv') } });
    await input.trigger('change');
    await expect.poll(() => calls.some(([method]) => method === 'inspectData')).toBe(true);
    expect(calls.find(([method]) => method === 'openUpload')?.[1]).toEqual({ name: 'my plants.csv', bytes: 8 });
    expect(wrapper.get('.doing [role=status]').text()).toBe('Reading the data…');
    buttonNamed('Cancel').click();
    await flushPromises();
    expect(wrapper.get('[role=alert]').text()).toContain('Reading the file was cancelled.');
    wrapper.unmount();
    await flushPromises();
    expect(calls.at(-1)).toEqual(['dropUpload', 'upload-1']);
  });
});
