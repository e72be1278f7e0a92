import { enforcementIn } from '../core/protocol/machine/confinement.ts';
import { connect } from '../workers/collectives/socket-channel.ts';
import { HubLink } from '../workers/session/hub-link.ts';
import { HubReport } from '../workers/session/hub-report.ts';

/**
 * Simulates many ranks that report points, each over a separate connection: `reporters.ts <socket> <ranks> <points/s>`.
 */

const [socket, ranks, pointsPerSecond] = process.argv.slice(2);

for (let rank = 0; rank < Number(ranks); rank++) await startReporter(rank);

async function startReporter(rank: number): Promise<void> {
  const channel = await connect(socket, 10_000);
  const link = new HubLink(channel, { message() {}, collective() {}, closed: () => process.exit() });
  link.send({ type: 'hello', rank, pid: process.pid, token: '', enforcement: enforcementIn({}) });
  const report = new HubReport(link);
  let step = 0;
  setInterval(
    () => {
      step += 1;
      report.point(`train/member_${rank}_loss`, 1 / step, { epoch: 0, step });
    },
    1000 / Number(pointsPerSecond),
  );
}
