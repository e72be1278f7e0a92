import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CommandLine, parseLine } from './command-line.ts';

const terminal = CommandLine.use();

describe('tutti', () => {
  it('prints its help', async () => {
    const help = await terminal.run('--help');
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Usage: tutti [options] [command]');
    expect(help.stdout).toContain('Exit codes:');
    expect((await terminal.run('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('lists devices', async () => {
    const { code, stdout } = await terminal.run('devices', '--json');
    expect(code).toBe(0);
    const { devices } = JSON.parse(stdout);
    expect(devices).toContainEqual(expect.objectContaining({ id: 'cpu:0', kind: 'cpu', usable: true }));
  });

  it('checks the machine', async () => {
    const { code, stdout } = await terminal.run('doctor', '--json');
    const { ok, checks } = JSON.parse(stdout);
    expect({ code, ok }).toEqual({ code: 0, ok: true });
    expect(checks.map(({ name }: { name: string }) => name)).toEqual([
      'node',
      'backend wasm',
      'BLAS',
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
    const { code, stdout } = await terminal.run('train', terminal.project, '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('Blobs (classification)');
    expect(stdout).toContain('--width <integer>');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain("(the project's default: 16)");
  });

  it('trains, lists and exports a run', async () => {
    const out = join(terminal.folder, 'first');
    const file = join(terminal.folder, 'config.json');
    // As PowerShell's `>` writes it.
    const config = '{"seed": 7, "maxEpochs": 9, "optimizer": {"learningRate": 0.02}}';
    await writeFile(file, Buffer.from(`\uFEFF${config}`, 'utf16le'));
    const options = ['--config', file, '--max-epochs', '3', '--set', 'width=4', '--out', out];
    const trained = await terminal.run('train', terminal.project, ...options);
    expect(trained.stderr).toBe('');
    expect(trained.code).toBe(0);
    expect(trained.stdout).toMatch(/^Blobs \(classification\) · 2 members · independent\n/);
    expect(trained.stdout).toMatch(/\nfinished after 3 epochs, 12 steps, \d+ s\nbest ens NLL [\d.]+ at epoch \d/);
    expect(trained.stdout).toMatch(/\nensemble-best +\d +average member( +[\d.]+){3}\n +ensemble( +[\d.]+){3}\n/);

    const record = JSON.parse(await readFile(join(out, 'run.json'), 'utf8'));
    expect(record.config).toMatchObject({ seed: 7, maxEpochs: 3, optimizer: { kind: 'adam', learningRate: 0.02 } });
    expect(record.config.hyperparameters).toEqual({ width: 4 });

    const listed = parseLine((await terminal.run('runs', '--json')).stdout);
    expect(listed).toMatchObject({
      project: 'Blobs',
      status: 'finished',
      folder: out,
      best: { metric: 'val/ens_nll' },
    });

    const exported = await terminal.run(
      'export',
      String(listed.id),
      '--to',
      join(terminal.folder, 'exported'),
      '--format',
      'csv,record',
    );
    expect(exported).toMatchObject({ code: 0, stderr: '' });
    expect((await readdir(join(terminal.folder, 'exported'))).sort()).toEqual([
      'devices.csv',
      'events.jsonl',
      'metrics.csv',
      'run.json',
    ]);
    expect(await terminal.run('export', out, '--to', join(terminal.folder, 'first.zip'))).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect((await readFile(join(terminal.folder, 'first.zip'))).subarray(0, 4).toString('latin1')).toBe(
      'PK\u0003\u0004',
    );
  });

  it('refuses invalid requests with exit code 2 before anything starts', async () => {
    const file = join(terminal.folder, 'broken.json');
    await writeFile(file, '{"members": 2');
    const latin = join(terminal.folder, 'latin.json');
    await writeFile(latin, Buffer.from('{"tags": ["Zürich"]}', 'latin1'));
    const wrong = [
      { args: ['train', terminal.project, '--with', '4'], said: 'There is no option --with. Did you mean --width?' },
      {
        args: ['train', terminal.project, '--optimizer', 'sgd', '--optimizer.beta1', '0.9'],
        said: 'optimizer.beta1 does not exist while optimizer.kind is "sgd", only for adam, adamw, lamb, lion.',
      },
      { args: ['train', terminal.project, '--config', file], said: `${file} is not a configuration in JSON` },
      { args: ['train', terminal.project, '--config', latin], said: `${latin}, line 1: byte 13 of the line is 0xFC` },
      { args: ['search', terminal.project, '--import', latin], said: `${latin}, line 1: byte 13 of the line is 0xFC` },
      { args: ['train', join(terminal.project, 'project.ts')], said: `name the folder ${terminal.project} instead` },
      { args: ['train', join(terminal.folder, 'nowhere')], said: 'There is no project in' },
      { args: ['train', '--members', '4'], said: 'The project comes first' },
      { args: ['resume', 'nowhere'], said: 'No run has the id, name or folder "nowhere"' },
      { args: ['paint'], said: "unknown command 'paint'" },
    ];
    const endings = await Promise.all(wrong.map(({ args }) => terminal.run(...args)));
    expect(endings).toEqual(wrong.map(({ said }) => ({ code: 2, stdout: '', stderr: expect.stringContaining(said) })));
  });

  it('stops jointly at Ctrl-C, and resumes until nothing is left to do', async () => {
    const { code, lines, last } = await terminal.interrupt('SIGINT');
    expect({ code, status: last.status }).toEqual({ code: 130, status: 'stopped' });
    expect(lines.filter(({ type }) => type === 'evaluated')).toHaveLength(3);

    const resumed = await terminal.run('resume', last.id, '--set', 'maxEpochs=1', '--json');
    expect(resumed.code).toBe(0);
    const { record } = parseLine(resumed.stdout.trimEnd().split('\n').at(-1) ?? '');
    expect(record).toMatchObject({ id: last.id, status: 'finished', config: { maxEpochs: 1 }, attempts: [{}, {}] });

    const again = await terminal.run('resume', last.id);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`Nothing is left to do: the run ${last.id}`),
    });
  });
});
