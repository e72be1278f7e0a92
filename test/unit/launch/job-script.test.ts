import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodesOf, parseNodes, withoutJobOptions } from '../../../src-main/cli/commands/training/train-in-job.ts';
import { quote } from '../../../core/text/printable.ts';
import { slurmJob } from '../../../src-main/cli/slurm-job.ts';
import { parseTimeLeft } from '../../../src-main/nodes/slurm-commands.ts';
import { studyScript, trainingScript } from '../../../src-main/nodes/job-script.ts';

describe('the script of a job', () => {
  it('starts one task a node, and resumes the run once it exists', () => {
    const script = trainingScript({
      name: 'tutti-blobs',
      nodes: { least: 2, most: 4, waitMs: 30_000 },
      folder: '/runs/my run',
      tutti: ['/node', '/tutti.mjs'],
      train: ['train', '/blobs', '--members', '8'],
      options: ['--partition=gpu'],
    });
    expect(script.split('\n')).toEqual([
      '#!/bin/bash',
      '#SBATCH --job-name=tutti-blobs',
      '#SBATCH --nodes=2-4',
      '#SBATCH --ntasks-per-node=1',
      '#SBATCH --signal=USR1@120',
      '#SBATCH --requeue',
      '#SBATCH --open-mode=append',
      '#SBATCH --output="/runs/my run.slurm.log"',
      '#SBATCH --partition=gpu',
      '[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK',
      "if [ -f '/runs/my run/run.json' ]; then",
      '  exec srun --ntasks-per-node=1 --no-kill --kill-on-bad-exit=0 /node /tutti.mjs resume ' +
        "'/runs/my run' --nodes 2:4:30",
      'fi',
      'exec srun --ntasks-per-node=1 --no-kill --kill-on-bad-exit=0 /node /tutti.mjs train /blobs --members 8',
      '',
    ]);
  });

  it.each([
    ['tutti-my net', '"tutti-my net"'],
    ['a#b', '"a#b"'],
    ['a "b" \\c', '"a \\"b\\" \\\\c"'],
    // No name becomes an option or a command of its own.
    ['a\n#SBATCH --partition=other\nrm x', '"a #SBATCH --partition=other rm x"'],
  ])('quotes the name %j', (name, quoted) => {
    const common = { name, folder: '/runs/a', tutti: ['/node'], options: [] };
    const training = trainingScript({ ...common, nodes: { least: 1, most: 1, waitMs: 0 }, train: ['train'] });
    const study = studyScript({ ...common, tasks: 2, search: ['search'] });
    const lines = 14;
    expect(training.split('\n')).toHaveLength(lines);
    for (const script of [training, study]) expect(script.split('\n')[1]).toBe(`#SBATCH --job-name=${quoted}`);
  });

  it('runs an array of tasks on a study', () => {
    const script = studyScript({
      name: 'tutti-blobs',
      tasks: 8,
      folder: '/studies/s',
      tutti: ['/node', '/tutti.mjs'],
      search: ['search', '--study', 's', '--parallel-here', '2'],
      options: ['--gpus=1'],
    });
    expect(script.split('\n')).toEqual([
      '#!/bin/bash',
      '#SBATCH --job-name=tutti-blobs',
      '#SBATCH --array=0-7',
      '#SBATCH --nodes=1',
      '#SBATCH --ntasks=1',
      '#SBATCH --signal=USR1@120',
      '#SBATCH --requeue',
      '#SBATCH --open-mode=append',
      '#SBATCH --output=/studies/s/slurm-%a.log',
      '#SBATCH --gpus=1',
      '[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK',
      'exec srun --ntasks=1 /node /tutti.mjs search --study s --parallel-here 2',
      '',
    ]);
  });

  it('quotes any word for the shell', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'grapheme-ascii' }).map((word) => word.replaceAll('\0', '')),
          { minLength: 1, maxLength: 4 },
        ),
        (words) => {
          const printed = execFileSync('sh', ['-c', `printf '%s\\0' ${quote(words)}`], { encoding: 'utf8' });
          expect(printed.split('\0').slice(0, -1)).toEqual(words);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('--nodes', () => {
  it.each([
    ['4', { least: 4, most: 4, waitMs: 30_000 }],
    ['2:4', { least: 2, most: 4, waitMs: 30_000 }],
  ])('%s', (text, range) => expect(parseNodes(text)).toEqual(range));
  it.each(['0', '4:2', 'two', '', '1:', '-1'])('refuses "%s"', (text) =>
    expect(() => parseNodes(text)).toThrow('--nodes'),
  );

  it('is found before the other options are known', () => {
    expect(nodesOf(['--members', '4', '--nodes', '3'])).toEqual({ least: 3, most: 3, waitMs: 30_000 });
    expect(nodesOf(['--nodes=1:3'])).toEqual({ least: 1, most: 3, waitMs: 30_000 });
    expect(nodesOf(['--nodes', '1:3:90'])).toEqual({ least: 1, most: 3, waitMs: 90_000 });
    expect(nodesOf(['--members', '4'])).toBeNull();
  });

  it('and what else concerns the submission is not passed on', () => {
    const args = ['--members', '4', '--nodes=2', '--sbatch', '--time=1', '--dry-run', '-o', 'x', '--json'];
    expect(withoutJobOptions(args)).toEqual(['--members', '4', '--json']);
  });
});

describe('the job of a process', () => {
  const end = { SLURM_JOB_END_TIME: '1800000000' };
  const endsAt = new Date('2027-01-15T08:00:00Z');

  it('is named so that a task of an array is requeued alone', async () => {
    expect(await slurmJob({})).toBeNull();
    expect(await slurmJob({ SLURM_JOB_ID: '7', ...end })).toEqual({ id: '7', endsAt });
    const array = { SLURM_JOB_ID: '7', SLURM_ARRAY_JOB_ID: '7', SLURM_ARRAY_TASK_ID: '3', ...end };
    expect(await slurmJob(array)).toEqual({ id: '7_3', endsAt });
  });

  it.each([
    ['3:04', 184],
    ['2:03:04', 7_384],
    ['1-02:03:04', 93_784],
    ['0:00', 0],
    ['UNLIMITED', null],
    ['NOT_SET', null],
    ['', null],
  ])('has %j left', (text, seconds) => {
    expect(parseTimeLeft(text)).toBe(seconds);
  });
});
