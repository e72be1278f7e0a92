import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { enforcedByNode } from '../../../core/protocol/machine/confinement.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import { controlTokenPath } from '../../../src-main/runs/control/control-socket.ts';
import { readRunRecord } from '../../../src-main/store/runs/run-folder.ts';
import { connect } from '../../../workers/collectives/socket-channel.ts';
import { notLinux, notRun } from '../../environment/reasons.ts';
import { pidOf, readCheckpointRecord, startRun, useHub } from '../harness.ts';

const { hub } = useHub();
const endless: RunConfigInput = { members: 2, devices: 2, maxEpochs: 100_000, logEverySteps: 1 };

/** Everything here uses the run's socket, like another process. */
it('a run is paused, changed and stopped through its socket, which returns the reason for a refusal', async () => {
  const run = await startRun(hub(), 'blobs', endless);
  await run.until((update) => update.type === 'points');
  const ask = (request: Parameters<ReturnType<typeof hub>['control']>[1]) => hub().control(run.folder, request);
  await ask({ action: 'pause' });
  await run.until((update) => update.type === 'worker' && update.state === 'paused');
  await expect(ask({ action: 'set', changes: { patience: 2 } })).rejects.toThrow('Early stopping is off in this run');
  await ask({ action: 'set', changes: { learningRate: 0.5 } });
  await ask({ action: 'resume' });
  await run.until((update) => update.type === 'event' && update.event.kind === 'changed');
  await ask({ action: 'checkpoint', name: 'from-afar' });
  await run.until((update) => update.type === 'checkpoint' && update.record.name === 'from-afar');
  await ask({ action: 'stop-at-epoch-end' });
  expect(await run.ended).toMatchObject({ status: 'stopped', changed: { learningRate: 0.5 } });
  expect(readCheckpointRecord(run.folder, 0, 'from-afar').epoch).toBeGreaterThanOrEqual(0);
  await expect(ask({ action: 'stop' })).rejects.toThrow('is stopped: no process trains it.');
});

it('commands require the token beside the socket, which only its owner can read', async () => {
  const run = await startRun(hub(), 'blobs', endless);
  await run.until((update) => update.type === 'points');
  const socket = (await readRunRecord(run.folder)).hub?.socket ?? '';
  const path = controlTokenPath(socket);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const token = await readFile(path, 'utf8');
  await writeFile(
    path,
    token.replace(/^./, (first) => (first === '0' ? '1' : '0')),
  );
  await expect(hub().control(run.folder, { action: 'abort' })).rejects.toThrow("The token is not this run's.");
  await writeFile(path, token);
  await hub().control(run.folder, { action: 'abort' });
  expect((await run.ended).status).toBe('interrupted');
});

it.skipIf(notLinux !== null)(
  `a connection as an unknown or taken rank is closed, and the run goes on${notRun(notLinux)}`,
  async () => {
    const run = await startRun(hub(), 'blobs', endless);
    await run.until((update) => update.type === 'points');
    const socket = (await readRunRecord(run.folder)).hub?.socket ?? '';
    // A project's code can read the arguments of its worker: socket, ranks, token.
    const words = (await readFile(`/proc/${pidOf(run.updates, 0)}/cmdline`, 'utf8')).split('\0');
    const token = words[words.indexOf(socket) + 2];
    for (const rank of [99, 0]) {
      const channel = await connect(socket, 5_000);
      const closed = new Promise<Error | null>((resolve) => channel.onClose(resolve));
      channel.send({
        kind: 'message',
        message: { type: 'hello', rank, pid: 1, token, enforcement: enforcedByNode('none') },
        arrays: [],
      });
      expect(await closed).toBeNull();
    }
    await hub().control(run.folder, { action: 'stop' });
    expect(await run.ended).toMatchObject({ status: 'stopped', error: null });
  },
);
