import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Channel } from '../../core/protocol/wire/channel.ts';
import { workerMessageSchema } from '../../core/protocol/run/messages.ts';
import { listen } from '../../src-main/relay/socket-server.ts';
import { pointBatch } from '../../core/protocol/wire/points.ts';
import { RunRecorder } from '../../src-main/runs/recording/run-recorder.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { RunIndex } from '../../src-main/store/index/run-index.ts';
import { benchRecord } from '../records.ts';

/** Of each rank. */
export const pointsPerSecond = 50;
export const measuredMs = 10_000;

/**
 * The hub's processor time for receiving, recording and forwarding points of many ranks, over real sockets.
 * @returns the share of a core
 */
export async function measureRecording(ranks: number): Promise<{ share: number; points: number }> {
  const home = await mkdtemp(join(tmpdir(), 'tutti-bench-'));
  const socket = join(home, 'hub.sock');
  const index = await RunIndex.open(home);
  const server = await listen(socket);
  const folder = join(home, 'runs', 'bench');
  const record = benchRecord('bench', { status: 'running', hub: { host: 'bench', pid: process.pid, socket } }, ranks);
  await createRunFolder(folder, record);
  let points = 0;
  const recorder = new RunRecorder(folder, record, index, (update) => {
    if (update.type === 'points') points += update.batch.value.length;
  });
  await recorder.begin(null);
  server.onConnection((channel) => take(channel, recorder));
  const reporters = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', 'reporters.ts'), socket, String(ranks), String(pointsPerSecond)],
    {
      stdio: 'inherit',
    },
  );
  try {
    await setTimeout(1500);
    const [beforeCpu, beforeMs, beforePoints] = [process.cpuUsage(), performance.now(), points];
    await setTimeout(measuredMs);
    const { user, system } = process.cpuUsage(beforeCpu);
    return { share: (user + system) / 1000 / (performance.now() - beforeMs), points: points - beforePoints };
  } finally {
    reporters.kill();
    await recorder.close();
    await server.close();
    index.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Records the workers' messages as a session does. */
function take(channel: Channel, recorder: RunRecorder): void {
  let rank = -1;
  channel.onFrame((frame) => {
    if (frame.kind !== 'message') return;
    const message = workerMessageSchema.parse(frame.message);
    if (message.type === 'hello') rank = message.rank;
    else if (message.type === 'points') recorder.points(rank, pointBatch(message.names, frame.arrays));
  });
}
