import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunAccess } from '../../core/protocol/run/follow.ts';
import type { ControlRequest, RemoteTarget } from '../../core/protocol/run/control-state.ts';
import { type Remote, type RunRecord, runRecordSchema } from '../../core/protocol/run/record.ts';
import { messageOf } from '../../core/text/errors.ts';
import { listen, type SocketServer } from '../relay/socket-server.ts';
import { ControlSocket } from '../runs/control/control-socket.ts';
import { ScratchFolder } from '../runs/workers/scratch.ts';
import { homePaths } from '../store/home.ts';
import { isOpen } from '../store/index/recovery.ts';
import type { RunIndex } from '../store/index/run-index.ts';
import { takeHubLock } from '../store/runs/hub-lock.ts';
import { holdsRun } from '../store/runs/known-folders.ts';
import { makeRunFolder, readRunRecord, writeRunRecord } from '../store/runs/run-folder.ts';
import { fetchFiles, fetchRecord } from './link/fetch-files.ts';
import { FolderCopy } from './link/folder-copy.ts';
import { findAccess, readAccesses } from './find-run.ts';
import { Link } from './link/link.ts';
import { Ssh } from './link/ssh.ts';

type Release = () => void | Promise<void>;

/** Waits before the next try to connect again: 1, 2, 4, ... s, at most this. */
const longestPauseMs = 30_000;

interface Parts {
  from: string;
  home: string | null;
  ssh: Ssh;
  access: RunAccess;
  folder: string;
  scratch: ScratchFolder;
  server: SocketServer;
  /** Frees what the copy holds, the last one first. Empty once it was freed. */
  releases: Release[];
  index: RunIndex;
  /** Says that the link broke or works again. */
  say: (line: string) => void;
}

export interface RemoteRunOptions {
  /** Tutti's home there; null: as the shell has it. */
  home: string | null;
  index: RunIndex;
  /** Whether ssh may ask for a password on the terminal until the run is found. */
  mayAsk: boolean;
  /** Says that the link broke or works again. */
  say: (line: string) => void;
}

/**
 * A run of another machine, as a copy of its folder in this home. This process takes the place of its hub: it holds the
 * lock of the copy, and passes requests on. So the terminal and the pages show and control the run like any other.
 */
export class RemoteRun {
  readonly id: string;
  readonly folder: string;
  /** Resolves once the run has ended; rejects if the copy cannot be kept. */
  readonly kept: Promise<void>;
  readonly #parts: Parts;
  readonly #copy: FolderCopy;
  readonly #socketPath: string;
  readonly #begun = Promise.withResolvers<void>();
  readonly #leaving = new AbortController();
  #link: Link;
  /** The record as it came last. */
  #record: RunRecord | null = null;
  #state: Pick<Remote, 'link' | 'since' | 'reason'> = connected();

  /**
   * Finds the run, connects to its hub, and makes the copy.
   * @returns the folder of the copy alone where another process keeps it already
   * @throws Error with the reason if there is no such run, or it cannot be reached
   */
  static async open(target: RemoteTarget, options: RemoteRunOptions): Promise<RemoteRun | string> {
    const { from } = target;
    const ssh = new Ssh(from, { mayAsk: options.mayAsk });
    const access = await findAccess(ssh, target, options.home);
    const folder = join(homePaths().runs, access.id);
    await refuseOwn(folder, access);
    await makeRunFolder(folder);
    const lock = await takeHubLock(folder);
    if (lock === null) return folder;
    const releases: Release[] = [() => lock.release()];
    try {
      const link = await Link.open(ssh, access);
      releases.push(() => link.close('the run could not be followed'));
      const scratch = await ScratchFolder.create();
      releases.push(() => scratch.remove());
      const server = await listen(join(scratch.path, 'hub.sock'));
      releases.push(() => server.close());
      const run = new RemoteRun({ from, ssh, access, folder, scratch, server, releases, ...options }, link);
      await run.#begin();
      return run;
    } catch (error) {
      await releaseAll(releases);
      throw error;
    }
  }

  private constructor(parts: Parts, link: Link) {
    this.#parts = parts;
    this.#link = link;
    this.id = parts.access.id;
    this.folder = parts.folder;
    this.#socketPath = join(parts.scratch.path, 'hub.sock');
    this.#copy = new FolderCopy(parts.folder, (text) => this.#takeRecord(text));
    // It must not ask for a password in the middle of the progress.
    parts.ssh.mayAsk = false;
    this.kept = this.#keep();
    const early = new Error(`The run ${this.id} was over before its record came. Look for it with: tutti runs, there.`);
    // Neither has an effect after the first record.
    this.kept.then(
      () => this.#begun.reject(early),
      (error: unknown) => this.#begun.reject(error),
    );
    // It is awaited only once other processes can control the run.
    this.#begun.promise.catch(() => undefined);
  }

  /** Ends the copy; the run itself continues. */
  async close(): Promise<void> {
    this.#leaving.abort();
    this.#link.close('this process left the run');
    await this.kept.catch(() => undefined);
    this.#state = { link: 'left', since: new Date().toISOString(), reason: null };
    try {
      await this.#writeRecord();
    } finally {
      await releaseAll(this.#parts.releases);
    }
  }

  async #begin(): Promise<void> {
    try {
      const controls = await ControlSocket.open(this.#socketPath, (request) => this.#pass(request));
      this.#parts.server.onConnection((channel) =>
        channel.onFrame((frame) => {
          if (!controls.answer(channel, frame)) channel.close();
        }),
      );
      await this.#begun.promise;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @throws Error with the reason for a refusal */
  async #pass(request: ControlRequest): Promise<void> {
    const { from } = this.#parts;
    if (this.#state.link === 'lost')
      throw new Error(`The link to ${from} is lost (${this.#state.reason}). Try again once it is back.`);
    const refusal = await this.#link.request(request).catch((error: unknown) => {
      throw new Error(`The link to ${from} broke before the run answered: ${messageOf(error)}.`, { cause: error });
    });
    if (refusal !== null) throw new Error(refusal);
  }

  /** Keeps the copy until the run has ended, or this process leaves it. */
  async #keep(): Promise<void> {
    const { say, from } = this.#parts;
    for (;;) {
      this.#link.follow(this.#copy);
      const reason = await this.#link.over;
      if (reason === null || this.#leaving.signal.aborted) return;
      if (this.#record === null) throw new Error(`The run ${this.id} cannot be followed: ${reason}`);
      await this.#tell({ link: 'lost', since: new Date().toISOString(), reason });
      say(`The link to ${from} is lost (${reason}). The run does not need it; connecting again.`);
      if (!(await this.#connectAgain())) return;
      await this.#tell(connected());
      say(`The link to ${from} is back.`);
    }
  }

  /** @returns false if the run has ended meanwhile, or this process leaves it */
  async #connectAgain(): Promise<boolean> {
    const { signal } = this.#leaving;
    for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return false;
      try {
        const link = await this.#findLink();
        if (link === null) return false;
        this.#link = link;
        if (!signal.aborted) return true;
        // It was left meanwhile.
        link.close('this process left the run');
        return false;
      } catch (error) {
        await this.#tell({ ...this.#state, reason: messageOf(error) });
      }
    }
  }

  /**
   * A link to the process that trains the run now, which may be another one on another node; null if the run has ended.
   */
  async #findLink(): Promise<Link | null> {
    const { ssh, home, access } = this.#parts;
    const found = (await readAccesses(ssh, home)).find(({ id }) => id === access.id);
    try {
      if (found !== undefined) return await Link.open(ssh, found);
    } catch (error) {
      if (!(await this.#fetchEnded())) throw error;
      return null;
    }
    if (await this.#fetchEnded()) return null;
    throw new Error('no process trains the run; resume it there');
  }

  /** Copies the run's files without its hub, if it has ended. @returns whether it has */
  async #fetchEnded(): Promise<boolean> {
    const { ssh, access } = this.#parts;
    const text = await fetchRecord(ssh, access.folder);
    if (text === null) throw new Error(`the run's folder ${access.folder} is gone`);
    if (isOpen(parseRecord(text, access))) return false;
    const files = await fetchFiles(ssh, access.folder);
    const parts = files.map(({ path }) => ({ path, identity: '', offset: 0, isNew: true }));
    await this.#copy.take(
      parts,
      files.map(({ bytes }) => bytes),
    );
    return true;
  }

  async #takeRecord(text: string): Promise<void> {
    this.#record = parseRecord(text, this.#parts.access);
    await this.#writeRecord();
    this.#begun.resolve();
  }

  async #tell(state: Pick<Remote, 'link' | 'since' | 'reason'>): Promise<void> {
    this.#state = state;
    await this.#writeRecord();
  }

  async #writeRecord(): Promise<void> {
    if (this.#record === null) return;
    const { from, home, folder, access, index } = this.#parts;
    const isKept = this.#state.link !== 'left' && isOpen(this.#record);
    const hub = isKept ? { host: hostname(), pid: process.pid, socket: this.#socketPath } : null;
    const record = { ...this.#record, hub, remote: { from, home, folder: access.folder, ...this.#state } };
    await writeRunRecord(folder, record);
    index.upsert(record, folder);
  }
}

/** Frees all, the last one first, although one of them fails. @throws the first failure */
async function releaseAll(releases: Release[]): Promise<void> {
  const failures: unknown[] = [];
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) {
    try {
      await release();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

function connected(): Pick<Remote, 'link' | 'since' | 'reason'> {
  return { link: 'connected', since: new Date().toISOString(), reason: null };
}

function parseRecord(text: string, { version }: RunAccess): RunRecord {
  const parsed = runRecordSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new Error(`the run's record is not one that this version of Tutti knows: Tutti ${version} wrote it`);
}

/** @throws Error if the home here has the run itself, because both machines share it */
async function refuseOwn(folder: string, { id, node }: RunAccess): Promise<void> {
  if (!holdsRun(folder) || (await readRunRecord(folder)).remote !== undefined) return;
  throw new Error(`The run ${id} is in this home itself, which ${node} shares: tutti attach ${id}`);
}
