import { type ChildProcessByStdio, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { RunRecord } from '../../core/protocol/run/record.ts';
import { readEvents, readRunRecord } from '../../src-main/store/runs/run-folder.ts';
import { noFullDevice, notLinux, notRun } from '../environment/reasons.ts';

const tutti = fileURLToPath(new URL('../../src-main/tutti.mjs', import.meta.url));

/** A project outside the repository. It imports packages that the worker provides. */
const projectSource = `
import { defineProject, gaussianBlobs, Generator, splitDataset, tf, z } from 'tutti-ensembles';

export default defineProject({
  name: 'Blobs',
  description: 'Three blobs in the plane.',
  task: 'classification',
  hyperparameters: z.object({ width: z.int().min(1).default(8).meta({ help: 'Units of the hidden layer.' }) }),
  defaults: { maxEpochs: 3, batchSize: 16, logEverySteps: 2, checkpoints: { stateEverySeconds: 0 } },
  data: ({ seed }) =>
    splitDataset(gaussianBlobs({ samples: 120, seed }), { validation: 30, test: 30 }, new Generator(seed, 'split')),
  model: ({ hyperparameters, featureShape, targetSize }) =>
    tf.sequential({
      layers: [
        tf.layers.dense({ inputShape: [...featureShape], units: hyperparameters.width, activation: 'relu' }),
        tf.layers.dense({ units: targetSize }),
      ],
    }),
});
`;

let folder: string;
let project: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-cli-test-'));
  project = join(folder, 'blobs');
  await mkdir(project);
  await writeFile(join(project, 'project.ts'), projectSource);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

type Command = ChildProcessByStdio<null, Readable, Readable>;

function start(...args: string[]): Command {
  // All its programs run from the sources, also workers.
  const env = { ...process.env, TUTTI_PROGRAMS: undefined, TUTTI_HOME: join(folder, 'home') };
  return spawn(process.execPath, [tutti, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
}

function exitCode(command: Command): Promise<number | null> {
  return new Promise((resolve) => void command.on('exit', resolve));
}

async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = start(...args);
  const [code, stdout, stderr] = await Promise.all([exitCode(command), text(command.stdout), text(command.stderr)]);
  return { code, stdout, stderr };
}

interface Line {
  type: string;
  record?: RunRecord;
  pid?: number;
  [member: string]: unknown;
}

function parseLine(line: string): Line {
  return JSON.parse(line);
}

/** Trains without end until the first metrics are there, then sends the signal. */
async function interrupt(signal: NodeJS.Signals): Promise<{ code: number | null; lines: Line[]; last: RunRecord }> {
  const command = start('train', project, '--max-epochs', '1000000', '--json');
  command.stderr.resume();
  const exited = exitCode(command);
  const lines: Line[] = [];
  for await (const line of createInterface({ input: command.stdout })) {
    lines.push(parseLine(line));
    if (lines.findIndex(({ type }) => type === 'point') === lines.length - 1) command.kill(signal);
  }
  const last = lines.at(-1);
  expect(last?.type).toBe('ended');
  if (last?.record === undefined) throw new Error('The last line has no record.');
  return { code: await exited, lines, last: last.record };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('tutti', () => {
  it('prints its help', async () => {
    const help = await run('--help');
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Usage: tutti [options] [command]');
    expect(help.stdout).toContain('Exit codes:');
    expect((await run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('lists devices', async () => {
    const { code, stdout } = await run('devices', '--json');
    expect(code).toBe(0);
    const { devices } = JSON.parse(stdout);
    expect(devices).toContainEqual(expect.objectContaining({ id: 'cpu:0', kind: 'cpu', usable: true }));
  });

  it('checks the machine', async () => {
    const { code, stdout } = await run('doctor', '--json');
    const { ok, checks } = JSON.parse(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(checks.map(({ name }: { name: string }) => name)).toEqual([
      'node',
      'backend wasm',
      'system BLAS',
      'backend tensorflow',
      'backend webgpu',
      'backend cpu',
      'devices',
      'home',
      'data',
      'scratch',
      'locks of the home',
      'open files',
      'file watches',
      'limits of projects',
      'end of workers',
    ]);
  });

  it('shows the options of a project', async () => {
    const { code, stdout } = await run('train', project, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Blobs (classification)');
    expect(stdout).toContain('--width <integer>');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain("(the project's default: 16)");
  });

  it('trains, lists and exports a run', async () => {
    const out = join(folder, 'first');
    const file = join(folder, 'config.json');
    await writeFile(file, '{"seed": 7, "maxEpochs": 9, "optimizer": {"learningRate": 0.02}}');
    const options = ['--config', file, '--max-epochs', '3', '--set', 'width=4', '--out', out];
    const trained = await run('train', project, ...options);
    expect(trained.stderr).toBe('');
    expect(trained.code).toBe(0);
    expect(trained.stdout).toMatch(/^Blobs \(classification\) · 2 members · independent\n/);
    expect(trained.stdout).toMatch(/\nfinished after 3 epochs, 12 steps, \d+ s\nbest ens NLL [\d.]+ at epoch \d/);
    expect(trained.stdout).toMatch(/\nensemble-best +\d +average member( +[\d.]+){3}\n +ensemble( +[\d.]+){3}\n/);

    const record = JSON.parse(await readFile(join(out, 'run.json'), 'utf8'));
    expect(record.config).toMatchObject({ seed: 7, maxEpochs: 3, optimizer: { kind: 'adam', learningRate: 0.02 } });
    expect(record.config.hyperparameters).toEqual({ width: 4 });

    const listed = parseLine((await run('runs', '--json')).stdout);
    expect(listed).toMatchObject({
      project: 'Blobs',
      status: 'finished',
      folder: out,
      best: { metric: 'val/ens_nll' },
    });

    const exported = await run('export', String(listed.id), '--to', join(folder, 'exported'), '--format', 'csv,record');
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect((await readdir(join(folder, 'exported'))).sort()).toEqual([
      'devices.csv',
      'events.jsonl',
      'metrics.csv',
      'run.json',
    ]);
    expect(await run('export', out, '--to', join(folder, 'first.zip'))).toMatchObject({ code: 0, stderr: '' });
    expect((await readFile(join(folder, 'first.zip'))).subarray(0, 4).toString('latin1')).toBe('PK\u0003\u0004');
  });

  it('keeps order among runs: compare, tag, archive, delete', async () => {
    const [out, listed] = [join(folder, 'kept'), ['runs', '--project', 'Blobs', '--json']];
    const trained = await run('train', project, '-q', '-e', '1', '--lr', '0.05', '-s', '3', '-o', out);
    expect(trained).toMatchObject({ code: 0, stderr: '' });
    const compared = await run('compare', out, out, '--json');
    expect(JSON.parse(compared.stdout)).toMatchObject({ options: [], runs: [{ status: 'finished' }, {}] });
    expect(await run('tag', out, 'good', 'kept')).toEqual({ code: 0, stdout: 'good\nkept\n', stderr: '' });
    expect(parseLine((await run(...listed, '--tag', 'kept')).stdout)).toMatchObject({
      folder: out,
      tags: ['good', 'kept'],
    });

    expect((await run('archive', out)).code).toBe(0);
    expect((await run(...listed, '--tag', 'kept')).stdout).toBe('');
    expect(parseLine((await run(...listed, '--archived')).stdout)).toMatchObject({ folder: out, isArchived: true });
    expect(await run('delete', out)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes deletes without a question'),
    });
    expect((await run('delete', out, '--yes')).code).toBe(0);
    expect(await readdir(folder)).not.toContain('kept');
    expect((await run(...listed, '--archived')).stdout).toBe('');
  });

  it('refuses invalid requests with exit code 2 before anything starts', async () => {
    const file = join(folder, 'broken.json');
    await writeFile(file, '{"members": 2');
    const wrong = [
      { args: ['train', project, '--with', '4'], said: 'There is no option --with. Did you mean --width?' },
      {
        args: ['train', project, '--optimizer', 'sgd', '--optimizer.beta1', '0.9'],
        said: 'optimizer.beta1 does not exist while optimizer.kind is "sgd", only for adam, adamw, lamb, lion.',
      },
      { args: ['train', project, '--config', file], said: `${file} is not a configuration in JSON` },
      { args: ['train', join(folder, 'nowhere')], said: 'There is no project in' },
      { args: ['train', '--members', '4'], said: 'The project comes first' },
      { args: ['resume', 'nowhere'], said: 'No run has the id, name or folder "nowhere"' },
      { args: ['paint'], said: "unknown command 'paint'" },
    ];
    const endings = await Promise.all(wrong.map(({ args }) => run(...args)));
    expect(endings).toEqual(wrong.map(({ said }) => ({ code: 2, stdout: '', stderr: expect.stringContaining(said) })));
  });

  it('stops jointly at Ctrl-C, and resumes until nothing is left to do', async () => {
    const { code, lines, last } = await interrupt('SIGINT');
    expect({ code, status: last.status }).toEqual({ code: 130, status: 'stopped' });
    expect(lines.filter(({ type }) => type === 'evaluated')).toHaveLength(3);

    const resumed = await run('resume', last.id, '--set', 'maxEpochs=1', '--json');
    expect(resumed.code).toBe(0);
    const { record } = parseLine(resumed.stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(record).toMatchObject({ id: last.id, status: 'finished', config: { maxEpochs: 1 }, attempts: [{}, {}] });

    const again = await run('resume', last.id);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Nothing is left to do: the run ${last.id}`),
    });
  });

  it('controls a run that another terminal trains', async () => {
    const training = start('train', project, '--max-epochs', '1000000', '--json');
    const exited = exitCode(training);
    const lines: Line[] = [];
    const hasPoints = Promise.withResolvers<string>();
    const ended = text(training.stderr);
    createInterface({ input: training.stdout }).on('line', (line) => {
      lines.push(parseLine(line));
      if (lines.at(-1)?.type === 'point') hasPoints.resolve(String(lines.find(({ record }) => record)?.record?.id));
    });
    const id = await hasPoints.promise;
    expect(await run('pause', id)).toMatchObject({ code: 0, stderr: '' });
    const wrong = await run('set', id, 'batchSize=3');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"batchSize" cannot be changed while') });
    const rule = 'optimizer.learning-rate "-1": it must be a number above 0.';
    expect((await run('set', id, 'optimizer.learningRate=-1')).stderr).toContain(rule);
    expect(await run('set', id, 'optimizer.learningRate=0.25')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('continue', id)).toMatchObject({ code: 0, stdout: 'The run continues.\n' });
    expect(await run('stop', id, '--rank', '1')).toMatchObject({ code: 0, stderr: '' });
    expect(await run('stop', id, '--at-epoch-end')).toMatchObject({ code: 0, stderr: '' });
    expect(await exited).toBe(3);
    expect(lines.at(-1)?.record).toMatchObject({ status: 'stopped', changed: { learningRate: 0.25 } });
    expect(await ended).toBe('');
    expect(await run('stop', id)).toMatchObject({
      code: 2,
      stderr: `error: The run ${id} is stopped: no process trains it.\n`,
    });
  });

  it('leaves no worker behind after SIGTERM', async () => {
    const { code, lines, last } = await interrupt('SIGTERM');
    expect({ code, status: last.status }).toEqual({ code: 143, status: 'interrupted' });
    const pids = new Set(lines.flatMap(({ pid }) => pid ?? []));
    expect(pids.size).toBe(2);
    expect([...pids].filter(isRunning)).toEqual([]);
  });

  it('trains on without its output, and says so once', async () => {
    const out = join(folder, 'closed-output');
    const command = start('train', project, '--max-epochs', '20', '--json', '--out', out);
    command.stdout.once('data', () => command.stdout.destroy());
    const [code, stderr] = await Promise.all([exitCode(command), text(command.stderr)]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^The output of the command was lost .*\n$/),
    });
    const lost = (await readEvents(out)).filter(({ kind }) => kind === 'output-lost');
    expect(lost.map(({ message }) => message)).toEqual([expect.stringContaining('The run continues')]);
  });

  it.skipIf(noFullDevice !== null)(`trains on where its output has no space${notRun(noFullDevice)}`, async () => {
    const out = join(folder, 'full-output');
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const env = { ...process.env, TUTTI_PROGRAMS: undefined, TUTTI_HOME: join(folder, 'home') };
    const train = [tutti, 'train', project, '--max-epochs', '2', '--out', out];
    const options = { env, cwd: folder, stdio: ['ignore', full, full] } satisfies SpawnOptions;
    const [code] = await once(spawn(process.execPath, train, options), 'exit');
    expect({ code, ...(await readRunRecord(out)) }).toMatchObject({ code: 0, status: 'finished', error: null });
    expect((await readEvents(out)).filter(({ kind }) => kind === 'output-lost')).toHaveLength(1);
    const [listed] = await once(spawn(process.execPath, [tutti, 'runs'], options), 'exit');
    expect(listed).toBe(1);
  });

  it.skipIf(notLinux !== null)(`refuses a folder that takes no run${notRun(notLinux)}`, async () => {
    const refused = await run('train', project, '--out', '/proc/tutti/run');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/proc/tutti/run: its file system takes no folders'),
    });
    expect((await run('export', 'nothing', '--to', '/proc/tutti')).code).toBe(2);
  });
});
