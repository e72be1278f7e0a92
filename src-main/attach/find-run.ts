import { type RunAccess, runAccessSchema } from '../../core/protocol/run/follow.ts';
import { parseTarget, type RemoteTarget } from '../../core/protocol/run/control-state.ts';
import { quote } from '../../core/text/printable.ts';
import type { Ssh } from './link/ssh.ts';
import { isOpen, markInterrupted } from '../store/index/recovery.ts';
import type { RunIndex } from '../store/index/run-index.ts';

/**
 * Finds a run that trains elsewhere, by the files in the home of the user there.
 * @param home Tutti's home there; null: as the shell has it
 * @throws Error that lists what is there
 */
export async function findAccess(ssh: Ssh, { from, run }: RemoteTarget, home: string | null): Promise<RunAccess> {
  const all = await readAccesses(ssh, home);
  const meanings = [
    (one: RunAccess) => one.id === run || one.folder === run,
    ({ name }: RunAccess) => name === run,
    ({ id, name }: RunAccess) => id.startsWith(run) || name.startsWith(run),
  ];
  for (const means of meanings) {
    const found = all.filter(means);
    if (found.length === 1) return found[0];
    if (found.length > 1)
      throw new Error(`Several runs on ${from} are called "${run}": ${listed(found)}. Name one by its id.`);
  }
  if (all.length > 0) throw new Error(`No run that trains on ${from} is called "${run}". There are ${listed(all)}.`);
  throw new Error(
    `No run on ${from} can be reached: none trains there on several nodes or in a job of ` +
      `SLURM${home === null ? '' : ` with the home ${home}`}. Set TUTTI_REACHABLE=1 for a run on a single machine, ` +
      'and give --home where Tutti has another home there than ~/.tutti.',
  );
}

/** Where the runs of a home can be reached that train now. */
export async function readAccesses(ssh: Ssh, home: string | null): Promise<RunAccess[]> {
  const folder = home === null ? '"${TUTTI_HOME:-$HOME/.tutti}"' : quote([home]);
  const output = await ssh.run(
    `cd ${folder}/reachable 2> /dev/null || exit 0\nfor file in *.json; do [ -f "$file" ] && cat "$file"; done\ntrue\n`,
  );
  return output.toString().split('\n').flatMap(parseLine);
}

/** Shells may print greetings too. */
function parseLine(line: string): RunAccess[] {
  if (!line.startsWith('{')) return [];
  const parsed = runAccessSchema.safeParse(parsedJson(line));
  return parsed.success ? [parsed.data] : [];
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function listed(runs: readonly RunAccess[]): string {
  return runs.map(({ id, name, node }) => `${id} ("${name}", on ${node})`).join(', ');
}

/** A run on another machine, and Tutti's home there; null: as the shell there has it. */
type FoundTarget = RemoteTarget & { home: string | null };

/** Where a run is that this machine does not have, or has a copy of that nobody keeps; null for all others. */
export async function findTarget(index: RunIndex, run: string, home: string | null): Promise<FoundTarget | null> {
  const target = parseTarget(run);
  if (target !== null) return { ...target, home };
  if (home !== null) throw new Error('--home belongs to a run on another machine: tutti attach user@login:run');
  const { folder } = await index.find(run);
  const record = await markInterrupted(folder);
  const { id, remote } = record;
  if (remote === undefined || remote.link !== 'left' || !isOpen(record)) return null;
  return { from: remote.from, run: id, home: remote.home };
}
