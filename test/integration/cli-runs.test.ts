import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readEvents, readRunRecord } from '../../src-main/store/runs/run-folder.ts';
import { noFullDevice, notLinux, notRun } from '../environment/reasons.ts';
import { CommandLine, exitCode, type Line, parseLine, tutti } from './command-line.ts';
import { isRunning } from './harness.ts';

const terminal = CommandLine.use();

describe('tutti', () => {
  it('keeps order among runs: compare, tag, archive, delete', async () => {
    const [out, listed] = [join(terminal.folder, 'kept'), ['runs', '--project', 'Blobs', '--json']];
    const trained = await terminal.run(
      'train',
      terminal.project,
      '-q',
      '-e',
      '1',
      '--lr',
      '0.05',
      '-s',
      '3',
      '-o',
      out,
    );
    expect(trained).toMatchObject({ code: 0, stderr: '' });
    const compared = await terminal.run('compare', out, out, '--json');
    expect(JSON.parse(compared.stdout)).toMatchObject({ options: [], runs: [{ status: 'finished' }, {}] });
    expect(await terminal.run('tag', out, 'good', 'kept')).toEqual({ code: 0, stdout: 'good\nkept\n', stderr: '' });
    expect(parseLine((await terminal.run(...listed, '--tag', 'kept')).stdout)).toMatchObject({
      folder: out,
      tags: ['good', 'kept'],
    });

    expect((await terminal.run('archive', out)).code).toBe(0);
    expect((await terminal.run(...listed, '--tag', 'kept')).stdout).toBe('');
    expect(parseLine((await terminal.run(...listed, '--archived')).stdout)).toMatchObject({
      folder: out,
      isArchived: true,
    });
    expect(await terminal.run('delete', out)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes deletes without a question'),
    });
    expect((await terminal.run('delete', out, '--yes')).code).toBe(0);
    expect(await readdir(terminal.folder)).not.toContain('kept');
    expect((await terminal.run(...listed, '--archived')).stdout).toBe('');
  });

  it('controls a run that another terminal trains', async () => {
    const training = terminal.start('train', terminal.project, '--max-epochs', '1000000', '--json');
    const exited = exitCode(training);
    const lines: Line[] = [];
    const hasPoints = Promise.withResolvers<string>();
    const ended = text(training.stderr);
    createInterface({ input: training.stdout }).on('line', (line) => {
      lines.push(parseLine(line));
      if (lines.at(-1)?.type === 'point') hasPoints.resolve(String(lines.find(({ record }) => record)?.record?.id));
    });
    const id = await hasPoints.promise;
    expect(await terminal.run('pause', id)).toMatchObject({ code: 0, stderr: '' });
    const wrong = await terminal.run('set', id, 'batchSize=3');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('"batchSize" cannot be changed while') });
    const rule = 'optimizer.learning-rate "-1": it must be a number above 0.';
    expect((await terminal.run('set', id, 'optimizer.learningRate=-1')).stderr).toContain(rule);
    expect(await terminal.run('set', id, 'optimizer.learningRate=0.25')).toMatchObject({ code: 0, stderr: '' });
    expect(await terminal.run('continue', id)).toMatchObject({ code: 0, stdout: 'The run continues.\n' });
    expect(await terminal.run('stop', id, '--rank', '1')).toMatchObject({ code: 0, stderr: '' });
    expect(await terminal.run('stop', id, '--at-epoch-end')).toMatchObject({ code: 0, stderr: '' });
    expect(await exited).toBe(3);
    expect(lines.at(-1)?.record).toMatchObject({ status: 'stopped', changed: { learningRate: 0.25 } });
    expect(await ended).toBe('');
    expect(await terminal.run('stop', id)).toMatchObject({
      code: 2,
      stderr: `error: The run ${id} is stopped: no process trains it.\n`,
    });
  });

  it('leaves no worker behind after SIGTERM', async () => {
    const { code, lines, last } = await terminal.interrupt('SIGTERM');
    expect({ code, status: last.status }).toEqual({ code: 143, status: 'interrupted' });
    const pids = new Set(lines.flatMap(({ pid }) => pid ?? []));
    expect(pids.size).toBe(2);
    expect([...pids].filter(isRunning)).toEqual([]);
  });

  it('trains on without its output, and says so once', async () => {
    const out = join(terminal.folder, 'closed-output');
    const command = terminal.start('train', terminal.project, '--max-epochs', '20', '--json', '--out', out);
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
    const out = join(terminal.folder, 'full-output');
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const train = [tutti, 'train', terminal.project, '--max-epochs', '2', '--out', out];
    const options = { env: terminal.env, cwd: terminal.folder, stdio: ['ignore', full, full] } satisfies SpawnOptions;
    const [code] = await once(spawn(process.execPath, train, options), 'exit');
    expect({ code, ...(await readRunRecord(out)) }).toMatchObject({ code: 0, status: 'finished', error: null });
    expect((await readEvents(out)).filter(({ kind }) => kind === 'output-lost')).toHaveLength(1);
    const [listed] = await once(spawn(process.execPath, [tutti, 'runs'], options), 'exit');
    expect(listed).toBe(1);
  });

  it.skipIf(notLinux !== null)(`refuses a folder that takes no run${notRun(notLinux)}`, async () => {
    const refused = await terminal.run('train', terminal.project, '--out', '/proc/tutti/run');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/proc/tutti/run: its file system takes no folders'),
    });
    expect((await terminal.run('export', 'nothing', '--to', '/proc/tutti')).code).toBe(2);
  });
});
