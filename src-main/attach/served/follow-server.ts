import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../../core/text/errors.ts';
import { type FollowedMessage, followerMessageSchema } from '../../../core/protocol/run/follow.ts';
import type { ControlRequest } from '../../../core/protocol/run/control-state.ts';
import type { WireArray } from '../../../core/protocol/wire/arrays.ts';
import { type Channel, channelOver } from '../../../core/protocol/wire/channel.ts';
import { Heartbeat } from '../../nodes/secure/heartbeat.ts';
import { hostsOfThis, SecureServer } from '../../nodes/secure/secure-socket.ts';
import { removeAccess, writeAccess } from './access-file.ts';
import { FolderFeed } from './folder-feed.ts';
import { hostname } from 'node:os';
import packageJson from '../../../package.json' with { type: 'json' };
import type { RunRecord } from '../../../core/protocol/run/record.ts';

const lookEveryMs = 300;
/** How long the last files may take once the run has ended. */
const leaveMs = 10_000;

export interface ServedRun {
  id: string;
  name: string;
  folder: string;
  version: string;
  heartbeatMs: number;
  node: string;
  /** The name by which the launcher knows this node; null: it does not tell. */
  firstHost: string | null;
  /** Executes a request, or throws an error with the reason for a refusal. */
  obey(request: ControlRequest): void;
}

/**
 * Lets processes on other machines follow and control a run that trains here. They learn address and key from a file
 * that only this user can read.
 */
export class FollowServer {
  readonly #run: ServedRun;
  readonly #server: SecureServer;
  readonly #visitors: Set<Visitor>;

  private constructor(run: ServedRun, server: SecureServer, visitors: Set<Visitor>) {
    this.#run = run;
    this.#server = server;
    this.#visitors = visitors;
  }

  static async open(run: ServedRun): Promise<FollowServer> {
    const visitors = new Set<Visitor>();
    const server = await SecureServer.listen((socket, purpose) => {
      if (purpose !== 'follow') return void socket.destroy();
      const visitor = new Visitor(channelOver(socket), run, () => visitors.delete(visitor));
      visitors.add(visitor);
    });
    const { id, name, folder, version, node, firstHost } = run;
    const { port, token } = server;
    const hosts = hostsOfThis(firstHost);
    await writeAccess({ format: 1, id, name, folder, version, hosts, port, token, node, pid: process.pid });
    return new FollowServer(run, server, visitors);
  }

  /** Sends the last files, once the run has ended, and breaks all connections. */
  async close(): Promise<void> {
    await removeAccess(this.#run.id);
    const leaving = new AbortController();
    const all = Promise.all([...this.#visitors].map((visitor) => visitor.end()));
    await Promise.race([all, wait(leaveMs, undefined, { signal: leaving.signal }).catch(() => undefined)]);
    leaving.abort();
    this.#server.close();
  }
}

/** A process that follows the run, or sends it a request. */
class Visitor {
  readonly #channel: Channel;
  readonly #run: ServedRun;
  readonly #heartbeat: Heartbeat;
  readonly #gone: () => void;
  readonly #leaving = new AbortController();
  #feeding: Promise<void> | null = null;
  #taken = Promise.withResolvers<void>();
  #isEnding = false;

  constructor(channel: Channel, run: ServedRun, gone: () => void) {
    this.#channel = channel;
    this.#run = run;
    this.#gone = gone;
    this.#heartbeat = new Heartbeat(
      () => this.#send({ type: 'beat' }),
      () => this.#lose(),
    );
    channel.onClose(() => this.#lose());
    channel.onFrame((frame) => {
      this.#heartbeat.heard();
      this.#obey(frame.kind === 'message' ? frame.message : null);
    });
    this.#heartbeat.settle(run.heartbeatMs);
    this.#send({ type: 'settle', heartbeatMs: run.heartbeatMs });
  }

  /** Sends what is left of the files. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#feeding;
    this.#send({ type: 'ended' });
    this.#heartbeat.stop();
    this.#channel.close();
  }

  #obey(message: unknown): void {
    const parsed = followerMessageSchema.safeParse(message);
    if (!parsed.success) return this.#lose();
    const { data } = parsed;
    if (data.type === 'taken') this.#taken.resolve();
    if (data.type === 'request') this.#answer(data.number, data.request);
    if (data.type === 'follow') this.#follow(new FolderFeed(this.#run.folder, data.have));
  }

  #follow(feed: FolderFeed): void {
    // A folder that is gone ends the run, which reports it.
    this.#feeding ??= this.#feed(feed).catch(() => this.#lose());
  }

  #answer(number: number, request: ControlRequest): void {
    let refusal: string | null = null;
    try {
      this.#run.obey(request);
    } catch (error) {
      refusal = messageOf(error);
    }
    this.#send({ type: 'answer', number, refusal });
  }

  /** Sends the files as they change, one message at a time, until the run has ended and all is sent. */
  async #feed(feed: FolderFeed): Promise<void> {
    const { signal } = this.#leaving;
    while (!signal.aborted) {
      const isLast = this.#isEnding;
      const news = await feed.next();
      if (news === null && isLast) return;
      if (news === null) {
        await wait(lookEveryMs, undefined, { signal }).catch(() => undefined);
        continue;
      }
      this.#taken = Promise.withResolvers();
      this.#send({ type: 'files', parts: news.parts, removed: news.removed }, news.bytes);
      await this.#taken.promise;
    }
  }

  #send(message: FollowedMessage, arrays: WireArray[] = []): void {
    if (this.#leaving.signal.aborted) return;
    try {
      this.#channel.send({ kind: 'message', message, arrays });
    } catch {
      this.#lose();
    }
  }

  #lose(): void {
    this.#leaving.abort();
    this.#taken.resolve();
    this.#heartbeat.stop();
    this.#channel.close();
    this.#gone();
  }
}

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
