import { mkdir, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type WorkerMessage, workerMessageSchema } from '../../core/protocol/run/messages.ts';
import { rankCount } from '../../core/protocol/run/strategies/ranks-and-members.ts';
import { planPlacement } from '../../src-main/devices/plan.ts';
import { Hub } from '../../src-main/hub/hub.ts';
import { listen } from '../../src-main/relay/socket-server.ts';
import { HubService } from '../../src-main/rpc/hub-service.ts';
import { pointBatch } from '../../core/protocol/wire/points.ts';
import { RunRecorder } from '../../src-main/runs/recording/run-recorder.ts';
import { startServer } from '../../src-main/server.ts';
import { ExportLinks } from '../../src-main/server/export-links.ts';
import { homePaths } from '../../src-main/store/home.ts';
import { createRunFolder } from '../../src-main/store/runs/run-folder.ts';
import { benchRecord } from '../records.ts';

/**
 * The hub under load, in a separate process: the service and the server of the pages, and a recorder whose ranks are
 * connections to a socket, as those of workers. `node hub.ts <socket> <ranks>` sends `{ link }` to its parent, and
 * answers `sample` with its use of resources.
 */

const [socketPath, ranksText] = process.argv.slice(2);
const ranks = Number(ranksText);
const onError = (error: unknown): void => console.error(error);
const hub = await Hub.open((notice) => console.error(notice));

const exportLinks = new ExportLinks();
const exportLink = (name: string): string => exportLinks.link(name);
const service = await HubService.open(hub, { frontEnd: 'browser', exportLink, links: null, openPath: null, onError });
const { exports: exportFolder } = homePaths();
const server = await startServer({
  port: 0,
  pageFolder: exportFolder,
  exportFolder,
  exportLinks,
  connect: (wire, role) => service.connect(wire, role),
  onError,
  onNotice: onError,
});

const core = { kind: 'cpu' as const, memoryTotalBytes: null, memoryUsedBytes: null, load: null, processCount: null };
const devices = [{ id: 'cpu:0', index: 0, name: 'a core', ...core }];
const plan = planPlacement({ ranks: rankCount(ranks), devices, placement: 'share' });
const folder = join(homePaths().runs, 'endurance');
const record = benchRecord('endurance', { status: 'running', plan });
await createRunFolder(folder, record);
hub.index.upsert(record, folder);
const recorder = new RunRecorder(folder, record, hub.index, () => undefined);
await recorder.begin(null);

let points = 0;
await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
const sockets = await listen(socketPath);
let connected = 0;
sockets.onConnection((channel) => {
  const rank = connected;
  connected += 1;
  channel.onFrame((frame) => {
    if (frame.kind !== 'message') return;
    const message: WorkerMessage = workerMessageSchema.parse(frame.message);
    if (message.type !== 'points') return;
    const batch = pointBatch(message.names, frame.arrays);
    points += batch.value.length;
    recorder.points(rank, batch);
  });
  channel.onClose(() => undefined);
});

/** What the process uses now; descriptors only where the system lists them. */
async function sample(): Promise<Record<string, number>> {
  globalThis.gc?.();
  const descriptors = await readdir('/proc/self/fd').then(
    (names) => names.length,
    () => Number.NaN,
  );
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  return { points, rss, heapUsed, arrayBuffers, descriptors };
}

process.on('message', (text) => {
  if (text === 'sample') sample().then((taken) => process.send?.(taken), onError);
  if (text === 'written') recorder.metrics.keep().then(() => process.send?.({ points }), onError);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ link: server.link });
