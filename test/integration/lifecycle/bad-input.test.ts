import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import { projectFolder, resume, startRun, train, useHub } from '../harness.ts';
import { noPermissions, notRun } from '../../environment/reasons.ts';

const { hub, home } = useHub();
const short: RunConfigInput = { members: 2, devices: 2, maxEpochs: 1 };

async function failureOf(config: RunConfigInput): Promise<string> {
  const { record } = await train(hub(), 'faulty', config);
  expect(record.status).toBe('failed');
  return record.error?.message ?? '';
}

describe('a project that cannot be loaded', () => {
  it('does not exist', async () => {
    const folder = projectFolder('nowhere');
    const message = `There is no project in ${folder}: the folder must hold a project.ts.`;
    await expect(hub().describe(folder)).rejects.toThrow(message);
  });

  it('is malformed: every wrong part is named', async () => {
    const error = await hub().describe(projectFolder('malformed')).catch(String);
    expect(error).toContain('projects/malformed/project.ts does not export a project:');
    expect(error).toContain('hyperparameters: must be a z.object({...}) schema');
    expect(error).toContain('data: must be a function');
    expect(error).toMatch(/task: Invalid option: expected one of "classification"/);
  });

  it('does not parse', async () => {
    const folder = join(home(), 'unparsable');
    mkdirSync(folder);
    writeFileSync(join(folder, 'project.ts'), 'export default {');
    await expect(hub().describe(folder)).rejects.toThrow(/unparsable\/project\.ts could not be loaded: ./);
  });

  it('keeps its process busy: it is described nevertheless, and the process ends', async () => {
    const folder = join(home(), 'busy');
    mkdirSync(folder);
    const lines = [
      "import { defineProject, z } from 'tutti-ensembles';",
      'setInterval(() => {}, 1000);',
      "const parts = { data() {}, model() {}, hyperparameters: z.object({}), task: 'binary' };",
      "export default defineProject({ name: String(process.pid), description: '', ...parts });",
    ];
    writeFileSync(join(folder, 'project.mjs'), lines.join('\n'));
    const { name } = await hub().describe(folder);
    await expect.poll(() => readdirSync('/proc').includes(name)).toBe(false);
  });
});

describe('a project that takes too long to load', () => {
  beforeAll(() => void vi.stubEnv('TUTTI_LOAD_SECONDS', '2'));
  afterAll(() => void vi.unstubAllEnvs());

  it.each([
    { does: 'computes', code: 'for (;;);', computed: '(1\\.[5-9]|[2-9]|\\d\\.\\d)' },
    {
      does: 'waits',
      code: "import { setTimeout } from 'node:timers/promises'; await setTimeout(1e9);",
      computed: '\\d(\\.\\d)?',
    },
  ])('names what it did and the limit where it $does without end', async ({ does, code, computed }) => {
    const folder = join(home(), does);
    mkdirSync(folder);
    writeFileSync(join(folder, 'project.mjs'), code);
    const error = await hub().describe(folder).catch(String);
    expect(error).toContain(`The project in ${folder} could not be loaded: its process was ended after `);
    expect(error).toContain('because it was still importing the project and its modules when its limit of 2 s');
    expect(error).toContain('What takes long belongs into data() or model(), which run once the training has begun.');
    expect(error).toContain('TUTTI_LOAD_SECONDS=20. It printed nothing.');
    expect(error).toMatch(new RegExp(`of which it computed ${process.platform === 'linux' ? computed : 0} s`));
  });

  it('is loaded within a longer limit', async () => {
    vi.stubEnv('TUTTI_LOAD_SECONDS', '60');
    const { name } = await hub().describe(projectFolder('blobs'));
    expect(name).toBe('Blobs');
  });

  it.each(['soon', '0', '-3', '1e9'])('has no limit of "%s"', async (seconds) => {
    vi.stubEnv('TUTTI_LOAD_SECONDS', seconds);
    const refused = hub().describe(projectFolder('blobs'));
    await expect(refused).rejects.toThrow(
      `TUTTI_LOAD_SECONDS is "${seconds}", but must be a number of seconds above 0`,
    );
  });
});

describe('a configuration that does not fit', () => {
  it('sets an unknown hyperparameter', async () => {
    const start = startRun(hub(), 'blobs', { ...short, hyperparameters: { hidenUnits: 4 } });
    await expect(start).rejects.toThrow(/hidenUnits[\s\S]*hiddenUnits[\s\S]*project "Blobs"/);
  });

  it('sets a hyperparameter to a value that its schema refuses', async () => {
    const { record } = await train(hub(), 'blobs', { ...short, hyperparameters: { hiddenUnits: 0 } });
    expect(record).toMatchObject({ status: 'failed' });
    expect(record.error?.message).toMatch(
      /^Hyperparameters of project "Blobs" do not fit its schema:\n {2}hiddenUnits: .*>=1/,
    );
  });
});

describe('a model or data that does not fit the task', () => {
  it('the model is too wide', async () => {
    expect(await failureOf({ ...short, hyperparameters: { fault: 'width' } })).toBe(
      "The model's output has shape [B, 4], but the task needs one output of 3 logits (3 classes in Gaussian blobs). " +
        "Change the model's last layer.",
    );
  });

  it('a label is out of range', async () => {
    expect(await failureOf({ ...short, hyperparameters: { fault: 'labels' } })).toMatch(
      /sample 0 .*label 3|Label 3 of sample 0 in Gaussian blobs is not in 0\.\.2\./,
    );
  });
});

describe('the folder of a run', () => {
  it('holds one run: a second one is refused, and the first stays untouched', async () => {
    const first = await train(hub(), 'blobs', short);
    const events = await readEvents(first.folder);
    const second = await startRun(hub(), 'blobs', short, first.folder);
    await expect(second.ended).rejects.toThrow(
      `${first.folder} already holds the run ${first.record.id} ("Blobs", finished): a folder holds one run. ` +
        'Choose another folder with --out',
    );
    expect(await readEvents(first.folder)).toEqual(events);
  });

  it.skipIf(noPermissions !== null)(`must be writable${notRun(noPermissions)}`, async () => {
    const parent = join(home(), 'read-only');
    mkdirSync(parent);
    chmodSync(parent, 0o500);
    const run = await startRun(hub(), 'blobs', short, join(parent, 'run'));
    await expect(run.ended).rejects.toThrow(
      `Cannot create the run folder ${join(parent, 'run')}: this user may not (EACCES). Change the permissions`,
    );
  });
});

describe('a saved state', () => {
  it('cannot be resumed with another number of members', async () => {
    const { folder } = await train(hub(), 'blobs', short);
    await expect(resume(hub(), folder, { members: 3 })).rejects.toThrow(
      'A resumed run keeps its 2 members, but 3 were requested.',
    );
  });
});
