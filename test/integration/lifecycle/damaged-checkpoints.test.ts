import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { readEvents } from '../../../src-main/store/runs/run-folder.ts';
import {
  killable,
  mergedMetrics,
  pidOf,
  readCheckpointRecord,
  resume,
  startRun,
  trainOnce,
  untilStep,
  useHub,
} from '../harness.ts';

const { hub } = useHub();
const undisturbed = trainOnce();

const config: RunConfigInput = { ...killable, members: 2, maxEpochs: 60, onMemberLoss: { kind: 'continue' } };

const cut = (path: string): void => writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40));

it('a missing member is completed beside damaged records of the others, which are named', async () => {
  const run = await startRun(hub(), 'blobs', { ...config, members: 3 });
  await untilStep(run, 1, 100);
  process.kill(pidOf(run.updates, 1), 'SIGKILL');
  expect((await run.ended).lostMembers).toMatchObject([{ rank: 1 }]);
  cut(join(run.folder, 'checkpoints', 'rank-0', 'ensemble-best.json'));
  writeFileSync(join(run.folder, 'checkpoints', 'rank-2', 'final.json'), '[]');
  const record = await (await hub().resume(run.folder, {}, () => {}, { rank: 1 })).run();
  expect(record).toMatchObject({ status: 'finished', error: null });
  expect(record.lostMembers).toBeUndefined();
  const { epoch } = readCheckpointRecord(run.folder, 2, 'ensemble-best');
  expect(readCheckpointRecord(run.folder, 1, 'ensemble-best').epoch).toBe(epoch);
  const named = (await readEvents(run.folder)).filter(({ kind }) => kind === 'file-damaged');
  expect(named.map(({ message }) => message)).toEqual([
    expect.stringContaining(join('rank-0', 'ensemble-best.json is damaged')),
    expect.stringContaining(join('rank-2', 'final.json is damaged')),
  ]);
});

it('a stopped run goes on where the copies that its stop kept are damaged, with the bits of an undisturbed run', async () => {
  const run = await startRun(hub(), 'blobs', { ...config, hyperparameters: { samples: 1000 }, logEverySteps: 7 });
  await untilStep(run, 0, 25);
  run.session.control({ action: 'stop' });
  expect((await run.ended).status).toBe('stopped');
  const kept = join(run.folder, 'state', 'rank-0', 'replaced', 'checkpoints', 'final.json');
  writeFileSync(kept.replace('.absent', ''), '{"format": 1');
  writeFileSync(join(run.folder, 'checkpoints', 'rank-1', 'final.json'), '{"rank": "one"}');
  const record = await resume(hub(), run.folder);
  expect(record).toMatchObject({ status: 'finished', error: null });
  const whole = await undisturbed(hub(), 'blobs', { ...config, hyperparameters: { samples: 1000 }, logEverySteps: 7 });
  expect(await mergedMetrics(run.folder)).toEqual(await mergedMetrics(whole.folder));
  for (const rank of [0, 1]) {
    const { sha256 } = readCheckpointRecord(whole.folder, rank, 'final');
    expect(readCheckpointRecord(run.folder, rank, 'final').sha256).toBe(sha256);
  }
  const named = (await readEvents(run.folder)).filter(({ kind }) => kind === 'file-damaged');
  expect(named.map(({ rank }) => rank)).toEqual([null, 0]);
});
