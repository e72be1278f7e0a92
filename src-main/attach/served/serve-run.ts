import { hostname } from 'node:os';
import packageJson from '../../../package.json' with { type: 'json' };
import { messageOf } from '../../../core/text/errors.ts';
import type { ControlRequest } from '../../../core/protocol/run/control-state.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { FollowServer } from './follow-server.ts';

interface RunToServe {
  record: RunRecord;
  folder: string;
  /** The first of several tasks that a launcher started; null: it trains on this machine alone. */
  launch: { firstHost: string | null } | null;
  obey: (request: ControlRequest) => void;
  /** Takes the reason why the run cannot be reached. It trains without. */
  failed: (reason: string) => void;
}

/**
 * Lets other machines follow a run where its node is not the one that users log in to: in a launch on several nodes, in
 * a job of SLURM, or where `TUTTI_REACHABLE=1` asks for it. Elsewhere nothing listens on the network.
 */
export async function serveRun({ record, folder, launch, obey, failed }: RunToServe): Promise<FollowServer | null> {
  if (launch === null && process.env.SLURM_JOB_ID === undefined && process.env.TUTTI_REACHABLE !== '1') return null;
  const { id, name, config } = record;
  const { version } = packageJson;
  const { heartbeatMs } = config.timeouts;
  const node = process.env.TUTTI_NODE ?? process.env.SLURMD_NODENAME ?? hostname();
  const firstHost = launch?.firstHost ?? process.env.SLURMD_NODENAME ?? null;
  try {
    return await FollowServer.open({ id, name, folder, version, heartbeatMs, node, firstHost, obey });
  } catch (error) {
    failed(`\`tutti attach\` cannot reach this run from other machines: ${messageOf(error)}`);
    return null;
  }
}
