import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PointBatch, PointBuffer } from '../../../core/protocol/wire/points.ts';
import { describeEvaluations, RankLogs } from '../../../src-main/runs/recording/rank-logs.ts';
import { temporaryFolder } from '../store/fixtures.ts';

/** Points as `[name, epoch, step, value]`. */
function batchOf(...points: [name: string, epoch: number, step: number, value: number][]): PointBatch {
  const buffer = new PointBuffer();
  for (const point of points) buffer.add(...point);
  return buffer.take();
}

const evaluation = batchOf(
  ['train/member_1_loss', 2, 118, 0.7],
  ['val/member_1_nll', 2, 120, 0.512],
  ['val/member_1_acc', 2, 120, 0.9],
  ['val/ens_nll', 2, 120, 0.41012],
  ['val/member_1_nll', 3, 160, NaN],
);

describe('the lines of evaluations', () => {
  it('are one for each, with the monitored metric of the rank and, where it computes it, of the ensemble', () => {
    expect(describeEvaluations(1, evaluation, 'val/ens_nll')).toEqual([
      'Evaluation after epoch 3, step 120: member 1 NLL 0.5120, ens NLL 0.4101',
      'Evaluation after epoch 4, step 160: member 1 NLL – (NaN)',
    ]);
    expect(describeEvaluations(0, evaluation, 'val/ens_nll')).toEqual([
      'Evaluation after epoch 3, step 120: ens NLL 0.4101',
    ]);
  });

  it('are none for the points of training', () => {
    expect(describeEvaluations(1, batchOf(['train/member_1_loss', 0, 1, 2]), 'val/ens_nll')).toEqual([]);
  });
});

it('the log of a rank whose project prints nothing tells how its training went', async () => {
  const folder = join(await temporaryFolder(), 'logs');
  const logs = new RankLogs(folder, {
    onError: (error) => {
      throw error;
    },
  });
  const opened = [0, 1].map((rank) => logs.open(rank, `Attempt 1: rank ${rank} starts on cpu:${rank}.`));
  logs.event({ rank: 0, kind: 'described', message: 'Blobs: 51 parameters, 360 steps, wasm.' });
  logs.points(1, evaluation, null);
  logs.points(1, batchOf(['val/member_1_nll', 2, 120, 0.512]), 'val/ens_nll');
  logs.event({ rank: 1, kind: 'checkpoint', message: 'Kept checkpoint "final".' });
  opened[1].write('printed by the project');
  await Promise.all(opened.map((log) => log.close()));
  logs.event({ rank: null, kind: 'note', message: 'too late' });
  await logs.end('The run ended: finished.');
  const linesOf = async (rank: number) =>
    (await readFile(join(folder, `rank-${rank}.log`), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(25));
  expect(await linesOf(1)).toEqual([
    '(hub) Attempt 1: rank 1 starts on cpu:1.',
    '(hub) Blobs: 51 parameters, 360 steps, wasm.',
    '(hub) Evaluation after epoch 3, step 120: member 1 NLL 0.5120',
    '(hub) Kept checkpoint "final".',
    'printed by the project',
    '(hub) The run ended: finished.',
  ]);
  expect(await linesOf(0)).toHaveLength(3);
  expect(opened[1].lastLines()).toEqual(['printed by the project']);
});
