import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { channelOver } from '../../../core/protocol/wire/channel.ts';
import { TimeLimit } from '../../../core/node/time-limit.ts';
import { messageOf } from '../../../core/text/errors.ts';
import { netAddress } from '../../../core/protocol/wire/local-socket.ts';
import {
  type ControlRequest,
  remoteAnswerSchema,
  type RemoteRequest,
} from '../../../core/protocol/run/control-state.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { Link } from '../../attach/link/link.ts';
import { isReachable, readAccess } from '../../attach/served/access-file.ts';
import { connectSecurely } from '../../nodes/secure/secure-socket.ts';
import { controlTokenPath } from './control-socket.ts';

const answerMs = 5_000;
type Hub = NonNullable<RunRecord['hub']>;

/**
 * Whether the process that trains a run can take requests from here: by its socket, or on another node by the network.
 */
export function isInReach({ id, hub, remote }: RunRecord): boolean {
  if (remote !== undefined && remote.link !== 'connected') return false;
  return hub !== null && (isHere(hub) || isReachable(id));
}

function isHere({ socket }: Hub): boolean {
  return existsSync(controlTokenPath(socket));
}

/** Sends a request to the process that trains a run. @throws Error with the reason for a refusal */
export async function controlRun(record: RunRecord, request: ControlRequest): Promise<void> {
  const { id, hub, status, remote } = record;
  if (hub === null) {
    if (remote === undefined) throw new Error(`The run ${id} is ${status}: no process trains it.`);
    throw new Error(
      `The run ${id} is a copy of one on ${remote.from}, which no process keeps. Connect again: tutti attach ${id}`,
    );
  }
  if (!isHere(hub) && !isReachable(id)) {
    throw new Error(
      `The run ${id} is trained by process ${hub.pid} on ${hub.host}, whose socket ${hub.socket} does not exist ` +
        'here. Control it on that machine, or in that container. If that process has ended, `tutti runs` marks the ' +
        'run as interrupted.',
    );
  }
  const trainer = `Process ${hub.pid}, which trains the run ${id},`;
  const answer = isHere(hub) ? ask(hub.socket, request) : askOverNetwork(id, request);
  const refusal = await answer.catch((cause: unknown) => {
    const reason = messageOf(cause);
    throw new Error(`${trainer} cannot be reached: ${reason}. Check with \`tutti runs\` whether the run has ended.`, {
      cause,
    });
  });
  if (refusal !== null) throw new Error(refusal);
}

/** Asks a hub on another node, which shares this home. @returns why it refused; null where it did not */
async function askOverNetwork(id: string, request: ControlRequest): Promise<string | null> {
  const access = await readAccess(id);
  if (access === null) throw new Error('the file with its address is gone');
  const socket = await connectSecurely(access, access.token, 'follow', answerMs);
  const link = new Link(channelOver(socket), () => socket.destroy());
  try {
    return await link.request(request);
  } finally {
    link.close(null);
  }
}

/** @returns why the hub refused; null where it did not */
async function ask(socketPath: string, request: ControlRequest): Promise<string | null> {
  const token = await readFile(controlTokenPath(socketPath), 'utf8');
  const answer = Promise.withResolvers<string | null>();
  const channel = channelOver(createConnection(netAddress(socketPath, process.platform)));
  const limit = new TimeLimit(answerMs, () =>
    answer.reject(new Error(`it did not answer within ${answerMs} ms; it may be stopped (Ctrl-Z)`)),
  );
  channel.onFrame((frame) => {
    const parsed = remoteAnswerSchema.safeParse(frame.kind === 'message' ? frame.message : null);
    if (parsed.success) answer.resolve(parsed.data.refusal);
    else answer.reject(new Error('this version does not know its answer'));
  });
  channel.onClose((error) => answer.reject(error ?? new Error('it closed the connection')));
  const message: RemoteRequest = { type: 'remote-request', token, request };
  channel.send({ kind: 'message', message, arrays: [] });
  try {
    return await answer.promise;
  } finally {
    limit.stop();
    channel.close();
  }
}
