import { describe, expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { findResumePoint } from '../../../src-main/store/runs/resume-point.ts';
import { mergedMetrics, readCheckpointRecord, resume, startRun, train, useHub } from '../harness.ts';

const { hub } = useHub();

/** 20 steps an epoch; 7 divides neither them nor a round. */
const base: RunConfigInput = {
  members: 3,
  devices: 2,
  maxEpochs: 9,
  evaluateEveryEpochs: 3,
  logEverySteps: 7,
  hyperparameters: { samples: 1000 },
  earlyStopping: { enabled: true, patience: 4 },
};

const strategies: [string, RunConfigInput][] = [
  ['independent members', {}],
  ['stacked members', { membersPerDevice: 2 }],
  // Three ranks share an epoch, which must remain longer than the time until a stop arrives.
  ['data-parallel training', { strategy: { kind: 'data-parallel' }, hyperparameters: { samples: 3000 } }],
  ['pipelined training', { strategy: { kind: 'pipeline' } }],
];

describe.each(strategies)('%s, stopped twice within a round and resumed', (_, options) => {
  it('end with the metrics and the checkpoints of a run that never stopped, bit for bit', async () => {
    const config = { ...base, ...options };
    const whole = await train(hub(), 'blobs', config);
    const first = await startRun(hub(), 'blobs', config);
    await first.until((update) => update.type === 'points' && Math.max(...update.batch.step) > 25);
    first.session.control({ action: 'stop' });
    expect((await first.ended).status).toBe('stopped');
    const point = await findResumePoint(first.folder, [0, 1, 2]);
    const second = await hub().resume(first.folder, {}, ({ type }) => {
      if (type === 'points') second.control({ action: 'stop' });
    });
    expect((await second.run()).status).toBe('stopped');
    const record = await resume(hub(), first.folder);

    expect(record.status).toBe('finished');
    expect(point?.metricRows).not.toBeNull();
    expect(await mergedMetrics(first.folder)).toEqual(await mergedMetrics(whole.folder));
    expect(record.summary?.best).toEqual(whole.record.summary?.best);
    expect(record.summary?.evaluatedSets).toEqual(whole.record.summary?.evaluatedSets);
    for (const rank of record.config.strategy.kind === 'independent' ? [0, 1, 2] : [0]) {
      for (const name of ['final', 'ensemble-best', 'member-best']) {
        const { sha256, epoch, step } = readCheckpointRecord(whole.folder, rank, name);
        expect(readCheckpointRecord(first.folder, rank, name)).toMatchObject({ sha256, epoch, step });
      }
    }
  });
});
