import { TooltipProvider } from 'reka-ui';
import { describe, expect, it } from 'vitest';
import { describeOptions } from '../../core/options/index.ts';
import type { RunPreview, RunRequest } from '../../core/protocol/pages/project-views.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';
import ConfigurePage from '../../src-renderer/views/configure/ConfigurePage.vue';
import { runRecord, runView } from '../unit/renderer/run-fixtures.ts';
import { buttonNamed, mountPage } from './mount-page.ts';

const preview = (changes: Partial<RunPreview> = {}): RunPreview => ({
  config: runConfigSchema.parse({}),
  problems: [],
  plan: [],
  devices: [],
  grants: [],
  diskBytes: null,
  freeBytes: 1024,
  durationSeconds: null,
  leastRankBytes: null,
  workers: null,
  blasAdvice: null,
  commandLine: 'npx tutti train /blobs',
  ...changes,
});

async function open(query = '', answer: (request: RunRequest) => RunPreview = () => preview()) {
  const page = await mountPage(
    {
      components: { ConfigurePage, TooltipProvider },
      template: '<TooltipProvider><ConfigurePage /></TooltipProvider>',
    },
    { address: `/configure?project=/blobs${query}` },
    {
      describeProject: () => ({
        description: {
          name: 'Blobs',
          description: 'Points in two clouds.',
          task: 'classification',
          hyperparameters: [],
          defaults: {},
        },
        options: describeOptions(runConfigSchema),
        defaults: runConfigSchema.parse({}),
      }),
      health: () => ({ devices: [] }),
      previewRun: answer,
      startRun: () => ({ id: 'r9', sweep: null }),
      forkStart: (id, point) => {
        throw new Error(`The run ${id} has no state "${point}".`);
      },
    },
  );
  await expect.poll(() => page.wrapper.find('.summary h3').exists()).toBe(true);
  const { wrapper } = page;
  const field = (path: string) => wrapper.get<HTMLInputElement>(`[id="option-${path}"]`);
  return {
    ...page,
    field,
    help: (path: string) => wrapper.get(`[id="option-${path}-help"]`).text(),
    overrides: () => JSON.parse(String(page.router.currentRoute.value.query.set ?? '{}')),
    changed: () => wrapper.get('[role=status]').text(),
    start: () => wrapper.get<HTMLButtonElement>('.summary .primary'),
  };
}

it('an address that cannot be forked replaces the form of another one by the reason', async () => {
  const { router, wrapper } = await open();
  await router.push('/configure?fork=r1&at=round-9');
  await expect.poll(() => wrapper.find('[role=alert]').exists()).toBe(true);
  expect(wrapper.get('[role=alert]').text()).toContain('A fork cannot begin here');
  expect(wrapper.get('[role=alert]').text()).toContain('The run r1 has no state "round-9".');
  expect(wrapper.get('[role=alert] a').attributes('href')).toBe('/runs/r1/checkpoints');
  expect(wrapper.find('.summary').exists()).toBe(false);
});

describe('the form of a run', () => {
  it('keeps the changes in the address and previews them', async () => {
    const { field, overrides, changed, calls } = await open();
    expect(field('maxEpochs').element.value).toBe(String(runConfigSchema.parse({}).maxEpochs));
    await field('maxEpochs').setValue('7');
    await expect.poll(overrides).toEqual({ maxEpochs: 7 });
    expect(changed()).toBe('1 changed');
    await expect
      .poll(() => calls.filter(([method]) => method === 'previewRun').at(-1))
      .toEqual(['previewRun', { projectFolder: '/blobs', overrides: { maxEpochs: 7 }, name: null, out: null }]);
    await field('maxEpochs').setValue(String(runConfigSchema.parse({}).maxEpochs));
    await expect.poll(overrides).toEqual({});
    expect(changed()).toBe('0 changed');
  });

  it('starts from the changes in the address, and resets them', async () => {
    const { field, overrides, wrapper } = await open(`&set=${encodeURIComponent('{"members":3}')}`);
    expect(field('members').element.value).toBe('3');
    await wrapper
      .findAll('button')
      .find((button) => button.text() === 'Reset to defaults')
      ?.trigger('click');
    await expect.poll(overrides).toEqual({});
    expect(field('members').element.value).toBe(String(runConfigSchema.parse({}).members));
  });

  it('keeps invalid text, explains it, and does not start', async () => {
    const { field, help, overrides, start, wrapper } = await open();
    await expect.poll(() => start().element.disabled).toBe(false);
    await field('batchSize').setValue('many');
    expect(field('batchSize').element.value).toBe('many');
    expect(field('batchSize').attributes('aria-invalid')).toBe('true');
    expect(help('batchSize')).toBe('Enter a whole number of at least 1.');
    expect(overrides()).toEqual({});
    expect(start().element.disabled).toBe(true);
    expect(wrapper.get('.summary .bad').text()).toBe('1 option needs correction.');
    await field('batchSize').trigger('blur');
    expect(field('batchSize').element.value).toBe('many');
    await field('batchSize').setValue('0032');
    await field('batchSize').trigger('blur');
    expect(field('batchSize').element.value).toBe('32');
    await expect.poll(overrides).toEqual({ batchSize: 32 });
    await expect.poll(() => start().element.disabled).toBe(false);
  });

  it('shows the fields of the chosen kind only', async () => {
    const { field, overrides, wrapper } = await open();
    expect(wrapper.find('[id="option-optimizer.momentum"]').exists()).toBe(false);
    await field('optimizer.kind').setValue('sgd');
    await expect.poll(overrides).toEqual({ optimizer: { kind: 'sgd' } });
    await field('optimizer.momentum').setValue('0.9');
    await expect.poll(overrides).toEqual({ optimizer: { kind: 'sgd', momentum: 0.9 } });
  });

  it('offers a pipeline with its options, and activation checkpointing with every strategy', async () => {
    const { field, overrides, wrapper } = await open();
    expect(wrapper.find('[id="option-strategy.microBatches"]').exists()).toBe(false);
    await field('activationCheckpointing').setValue('sqrt');
    await field('strategy.kind').setValue('pipeline');
    await field('strategy.schedule').setValue('gpipe');
    await field('strategy.microBatches').setValue('16');
    await field('strategy.microBatches').trigger('blur');
    const strategy = { kind: 'pipeline', schedule: 'gpipe', microBatches: 16 };
    await expect.poll(overrides).toEqual({ activationCheckpointing: 'sqrt', strategy });
  });

  it('disables an option without effect and says why', async () => {
    const { field, help, overrides } = await open();
    await field('earlyStopping.enabled').setValue(false);
    await expect.poll(() => field('earlyStopping.patience').element.disabled).toBe(true);
    expect(help('earlyStopping.patience')).toBe('Early stopping is off.');
    expect(overrides()).toEqual(
      runConfigSchema.parse({}).earlyStopping.enabled ? { earlyStopping: { enabled: false } } : {},
    );
  });

  it('shows a problem of the hub at its field, others in the summary', async () => {
    const problems = [
      { path: 'devices', message: 'There is no GPU.' },
      { path: null, message: 'The project has no data.' },
    ];
    const { help, start, wrapper } = await open('', () => preview({ config: null, problems }));
    expect(help('devices')).toBe('There is no GPU.');
    expect(wrapper.get('.summary .message').text()).toBe('The project has no data.');
    expect(wrapper.get('.summary .bad').text()).toBe('2 options need correction.');
    expect(start().element.disabled).toBe(true);
    buttonNamed('Go to Devices').click();
    expect(document.activeElement?.id).toBe('option-devices');
  });

  it('starts the run under its name, detached if wished, and opens it', async () => {
    const { calls, router, start, wrapper } = await open();
    await wrapper.get('.summary input').setValue(' mine ');
    await wrapper.get('.summary input[type=checkbox]').setValue(true);
    await expect.poll(() => start().element.disabled).toBe(false);
    await start().trigger('click');
    await expect
      .poll(() => calls.filter(([method]) => method === 'startRun'))
      .toEqual([['startRun', { projectFolder: '/blobs', overrides: {}, name: 'mine', out: null, detach: true }]]);
    await expect.poll(() => router.currentRoute.value.fullPath).toBe('/runs/r9');
  });
});

describe('the choice of the code', () => {
  async function openResume(hasChangedCode: boolean) {
    const page = await mountPage(
      {
        components: { ConfigurePage, TooltipProvider },
        template: '<TooltipProvider><ConfigurePage /></TooltipProvider>',
      },
      { address: '/configure?resume=r1' },
      {
        run: () => runView({ record: runRecord({ id: 'r1', status: 'stopped' }) }),
        health: () => ({ devices: [] }),
        previewResume: () => ({ ...preview(), hasChangedCode }),
      },
    );
    await expect.poll(() => page.wrapper.find('.summary h3').exists()).toBe(true);
    await expect.poll(() => page.calls.some(([method]) => method === 'previewResume')).toBe(true);
    return page;
  }

  it('is offered where the project has changed since the run trained, and the kept code is chosen', async () => {
    const { wrapper, calls } = await openResume(true);
    await expect.poll(() => wrapper.find('.code-choice').exists()).toBe(true);
    const notice = wrapper.get('.code-choice [role=status]');
    expect(notice.text()).toContain('Training uses the code that the run kept.');
    await wrapper.get('.code-choice input').setValue(true);
    expect(notice.text()).toContain('Training uses the present code.');
    await expect
      .poll(() => calls.filter(([method]) => method === 'previewResume').at(-1))
      .toEqual(['previewResume', 'r1', {}, true]);
    await expect.poll(() => wrapper.get<HTMLButtonElement>('.summary .primary').element.disabled).toBe(false);
    await wrapper.get('.summary .primary').trigger('click');
    await expect
      .poll(() => calls.find(([method]) => method === 'resumeRun'))
      .toEqual(['resumeRun', 'r1', {}, null, true]);
  });

  it('is not offered where it has not', async () => {
    const { wrapper } = await openResume(false);
    await expect.poll(() => wrapper.get<HTMLButtonElement>('.summary .primary').element.disabled).toBe(false);
    expect(wrapper.find('.code-choice').exists()).toBe(false);
  });
});
