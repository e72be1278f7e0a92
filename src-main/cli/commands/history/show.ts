import { tutti } from '../../../../core/text/program.ts';
import { countEpoch } from '../../../../core/text/numbers.ts';
import { type AttemptHistory, attemptHistory, type ForkPoint } from '../../../../core/protocol/history/history.ts';
import { nameOrigin, originsOf, type PartMethod, type Parts } from '../../../../core/protocol/run/parts.ts';
import type { RunRecord } from '../../../../core/protocol/run/record.ts';
import { leavesOf } from '../../../../core/options/index.ts';
import { toJson } from '../../../../core/protocol/wire/numbers.ts';
import { printableLine } from '../../../../core/text/printable.ts';
import { readEvents } from '../../../store/runs/run-folder.ts';
import { findSubject, readSweep, type Subject } from '../../../campaigns/sweep-plan.ts';
import type { Hub } from '../../../hub/hub.ts';
import { findStudy } from '../../../studies/study-folder.ts';
import { studies } from '../studies/studies.ts';
import { exitCodes, toUsageError } from '../../errors.ts';
import { withHub } from '../../open-hub.ts';
import { lookOf } from '../../look.ts';
import { renderTable } from '../../table.ts';
import { describeSweepRuns } from '../sweeps/describe-sweep.ts';

/** A run with its history. */
export interface ShownRun {
  folder: string;
  name: string;
  record: RunRecord;
  history: AttemptHistory[];
  forks: { id: string; name: string; status: string; folder: string }[];
  forkPoints: ForkPoint[];
}

/** `tutti show` of a run, a sweep or a study. @returns the exit code */
export function show(run: string, { json = false }: { json?: boolean }): Promise<number> {
  return withHub(async (hub) => {
    const found = await findRun(hub, run);
    if (found === null) return studies(run, { json });
    if (found.kind === 'sweep') return showSweep(hub, found.sweep.id, json);
    const { folder, name } = found.row;
    const record = await hub.record(folder);
    const events = await readEvents(folder, ({ message }) => console.error(message));
    const forks = hub.runs({ origin: record.id }).map(({ id, name, status, folder }) => ({ id, name, status, folder }));
    const forkPoints = await hub.forkPoints(folder, ({ message }) => console.error(`warning: ${message}`));
    const shown = { folder, name, record, history: attemptHistory(record, events), forks, forkPoints };
    process.stdout.write(json ? `${toJson(shown)}\n` : `${describeRun(shown).join('\n')}\n`);
    return exitCodes.finished;
  });
}

async function showSweep(hub: Hub, id: string, json: boolean): Promise<number> {
  const summary = await readSweep(hub, id);
  const lines = json ? [toJson(summary)] : describeSweepRuns(summary, lookOf(process.stdout));
  process.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.finished;
}

/** A run or a sweep; null for what only a study is named by. @throws UsageError if neither has the name */
async function findRun(hub: Hub, name: string): Promise<Subject | null> {
  try {
    return await findSubject(hub, name);
  } catch (error) {
    const isStudy = await findStudy(name).then(
      () => true,
      () => false,
    );
    if (isStudy) return null;
    throw toUsageError(error);
  }
}

export function describeRun({ folder, name, record, history, forks, forkPoints }: ShownRun): string[] {
  const { id, status, project, origin, parts } = record;
  return [
    `${printableLine(name)} · ${id} · ${status}`,
    `project: ${printableLine(project.name)}, ${printableLine(project.folder)}`,
    `folder: ${printableLine(folder)}`,
    ...(origin === undefined
      ? []
      : [
          `fork of ${origin.run} ("${printableLine(origin.name)}"), attempt ${origin.attempt}: ${origin.point} ` +
            `after epoch ${countEpoch(origin.epoch)}, step ${origin.step}`,
        ]),
    ...(parts === undefined ? [] : [`made from checkpoints (${parts.method}):`, ...describeMembers(parts)]),
    '',
    'Attempts:',
    ...history.flatMap(describeAttempt),
    '',
    ...(forks.length === 0 ? ['No forks.'] : ['Forks:', ...forks.map(describeFork)]),
    '',
    ...describePoints(id, forkPoints),
    '',
    'Configuration:',
    ...leavesOf(record.config).map(([path, value]) => `  ${printableLine(path)} = ${spell(value)}`),
  ];
}

function describeMembers(parts: Parts): string[] {
  const { method, members } = parts;
  return originsOf(parts).map((origins, rank) => {
    const named = origins.map((origin) => `${nameOrigin(origin)} of rank ${origin.first.rank} of ${origin.first.run}`);
    return printableLine(`  rank ${rank}: ${howMade(method, members, rank)}${named.join(', ')}`);
  });
}

/** What a member is of its checkpoints. */
function howMade(method: PartMethod, members: Parts['members'], rank: number): string {
  const own = members[rank];
  switch (method) {
    case 'swag':
      return 'drawn around the mean of ';
    case 'mc-dropout':
      return 'dropout masks drawn for ';
    case 'unroll':
      return `inner member ${members.slice(0, rank).filter(([source]) => source === own[0]).length} of `;
    default:
      return own.length > 1 ? 'the mean of ' : '';
  }
}

function describeAttempt({ attempt, changes, hasNewSource, ending }: AttemptHistory): string[] {
  const { attempt: number, kind = 'start', status, startedAt, from, sourceHash, gitCommit, environment } = attempt;
  const at = from === undefined || from === null || from.step === 0 ? '' : ` at step ${from.step}`;
  const source = sourceHash?.slice(0, 12) ?? 'unknown';
  return [
    `  ${number}  ${kind}${at}, ${startedAt}: ${status}${ending === null ? '' : `. ${printableLine(ending)}`}`,
    ...changes.map(({ path, from, to }) => `     ${printableLine(path)}: ${spell(from)} → ${spell(to)}`),
    `     source ${source}${hasNewSource ? ' (changed)' : ''}, commit ${printableLine(gitCommit?.slice(0, 12) ?? '-')}`,
    ...(environment === undefined
      ? []
      : [
          `     ${printableLine(`${environment.host}, ${environment.os}, Node ${environment.node}, ${environment.devices.join(', ')}`)}`,
        ]),
  ];
}

function describeFork({ id, name, status }: ShownRun['forks'][number]): string {
  return `  ${id}  ${printableLine(name)}  ${status}`;
}

function describePoints(id: string, points: readonly ForkPoint[]): string[] {
  if (points.length === 0) return ['A fork can begin nowhere: there is no state or checkpoint that all members share.'];
  const columns = [
    { title: '  point' },
    { title: 'kind' },
    { title: 'attempt', right: true },
    { title: 'epoch', right: true },
    { title: 'step', right: true },
  ];
  const rows = points.map(({ name, kind, attempt, epoch, step }) => [
    `  ${name}`,
    kind === 'state' ? 'state, continues exactly' : 'weights only',
    String(attempt),
    String(countEpoch(epoch)),
    String(step),
  ]);
  return [`A fork can begin at (${tutti} fork ${id} --at <point>):`, ...renderTable(columns, rows)];
}

function spell(value: unknown): string {
  return value === undefined ? '-' : printableLine(typeof value === 'string' ? value : toJson(value));
}
