import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { RankView, RunNotes, RunView } from '../../../core/protocol/pages/run-views.ts';
import { type EvaluatedSet, ownSummary, type RunEvent, type RunRecord } from '../../../core/protocol/run/record.ts';
import type { FollowedRun } from '../../hub/followed-run.ts';
import type { LiveRank } from '../../hub/live-runs.ts';
import { isInReach } from '../../runs/control/remote-control.ts';
import { factsOf } from '../../../core/protocol/pages/run-updates.ts';
import { isOpen } from '../../store/index/recovery.ts';
import { readOwnText, unlessForeign } from '../../../core/node/own-files.ts';
import { listOwnFolder } from '../../../core/node/own-folders.ts';
import { holdsState } from '../../store/runs/saved-rounds.ts';
import type { HubParts } from '../../hub/run-feed.ts';
import { isHubAlive } from '../../store/runs/hub-lock.ts';
import { readRunRecord } from '../../store/runs/run-folder.ts';
import { changeRunNotes, readNotesIfWhole } from '../../store/runs/run-notes.ts';
import type { Trash } from './trash.ts';

/** All data of a run except its metrics, whichever process trains it. */
export async function viewRun({ hub, live, feed }: HubParts, id: string): Promise<RunView> {
  const run = await feed.open(id);
  const { record, folder, events, columns } = run;
  const ours = live.get(id);
  const facts = ours?.facts ?? factsOf(events);
  const drawn = await readPlots(folder);
  const damages: string[] = [];
  await hub.forkPoints(folder, ({ message }) => damages.push(message));
  return {
    record,
    folder,
    row: await hub.find(folder),
    isInReach: isInReach(record),
    isFollowedHere: isFollowedHere(record),
    holdsState: holdsState(folder),
    totalSteps: facts?.totalSteps ?? null,
    ensembleMonitor: facts?.ensembleMonitor ?? record.summary?.best?.metric ?? null,
    ranks: record.plan.map((placement) => viewRank(run, placement, ours?.ranks.get(placement.rank))),
    metrics: columns.names,
    events: withUnwritten(events, ours?.diskEvents ?? []),
    warnings: [...run.warnings, ...drawn.warnings, ...damages],
    evaluatedSets: evaluatedSetsOf(record, ours?.evaluatedSets ?? []),
    plots: drawn.plots,
  };
}

function isFollowedHere({ hub, remote }: RunRecord): boolean {
  return remote !== undefined && hub?.host === hostname() && hub.pid === process.pid;
}

/** The events on the disk, and those that wait until there is room for them. */
function withUnwritten(written: readonly RunEvent[], told: readonly RunEvent[]): RunEvent[] {
  const isWritten = ({ time, rank, kind }: RunEvent): boolean =>
    written.some((event) => event.time === time && event.rank === rank && event.kind === kind);
  return [...written, ...told.filter((event) => !isWritten(event))];
}

/** The evaluated sets of the last attempt, and those of the earlier attempt that it has not evaluated yet. */
function evaluatedSetsOf(record: RunRecord, live: readonly EvaluatedSet[]): EvaluatedSet[] {
  const kept = record.summary?.evaluatedSets ?? [];
  if (ownSummary(record) !== null) return kept;
  return [...kept.filter(({ set }) => live.every((one) => one.set !== set)), ...live];
}

/** The state of a rank: as it reports if this process trains it, else derived from its metrics. */
function viewRank(run: FollowedRun, { rank, wave, device }: Placement, live: LiveRank | undefined): RankView {
  const loss = lastPoint(run, `train/member_${rank}_loss`);
  const seen = {
    state: isOpen(run.record) ? (loss === null ? 'starting' : 'training') : 'exited',
    epoch: loss?.epoch ?? 0,
    step: loss?.step ?? 0,
    pid: null,
    samplesPerSecond: lastPoint(run, `train/member_${rank}_samples_per_second`)?.value ?? null,
    memoryBytes: null,
  };
  return {
    rank,
    wave,
    device: device.id,
    deviceName: device.name,
    seed: run.record.seeds[rank],
    loss: loss?.value ?? null,
    ...(live ?? seen),
  };
}

function lastPoint({ columns }: FollowedRun, metric: string): { epoch: number; step: number; value: number } | null {
  const column = columns.get(metric);
  if (column === undefined) return null;
  const last = column.length - 1;
  return { epoch: column.epoch[last], step: column.step[last], value: column.value[last] };
}

/** The drawings in `plots/`, and a warning for each that is no file of the run's folder. */
async function readPlots(folder: string): Promise<Pick<RunView, 'plots' | 'warnings'>> {
  const warnings: string[] = [];
  const warn = ({ message }: Error): void => void warnings.push(message);
  const entries = (await unlessForeign(listOwnFolder(folder, 'plots'), warn)) ?? [];
  const drawings = entries.filter(({ name }) => name.endsWith('.svg'));
  const read = drawings.map(async ({ path, name }) => {
    const svg = await unlessForeign(readOwnText(folder, path), warn);
    if (svg === null) return [];
    if (/(<svg[\s>].*<\/svg>|<svg[^>]*\/>)\s*$/s.test(svg)) return [{ name, svg }];
    warnings.push(
      `${join(folder, path)} is no whole SVG file, so it is not shown. Restore it from a copy, or remove it.`,
    );
    return [];
  });
  return { plots: (await Promise.all(read)).flat(), warnings };
}

/** Changes the user's notes on a run, first in its folder, then in the index. */
export async function updateNotes({ hub }: HubParts, id: string, changes: RunNotes): Promise<void> {
  const { folder } = await hub.find(id);
  hub.index.annotate(folder, await changeRunNotes(folder, changes));
}

/** Moves a run to the trash; its id restores it. @throws Error while the run trains */
export async function deleteRun({ hub, feed }: HubParts, trash: Trash, id: string): Promise<void> {
  const { folder } = await hub.find(id);
  const record = await readRunRecord(folder);
  if (isOpen(record) && isHubAlive(folder)) {
    throw new Error(`The run ${id} is ${record.status} under process ${record.hub?.pid}. Stop it before deleting it.`);
  }
  await trash.put(id, [folder], async () => {
    hub.index.upsert(await readRunRecord(folder), folder);
    hub.index.annotate(folder, (await readNotesIfWhole(folder)).notes);
  });
  hub.index.remove(folder);
  feed.forget(id);
}
