import { resolve } from 'node:path';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { lostRanksOf } from '../../../core/protocol/run/lost-members.ts';
import type { Launch } from '../../../core/protocol/run/messages.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { plannedConfig } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import { dataFolders } from '../../store/home.ts';
import type { ResumePoint } from '../../store/runs/resume-point.ts';
import { requireTrust } from '../../trust/project-trust.ts';
import { currentSettings } from '../control/run-controls.ts';
import { forkedAt } from '../fork/fork-points.ts';
import type { RunRecorder } from '../recording/run-recorder.ts';
import type { Completion } from './completion.ts';
import type { RankFolders } from '../workers/scratch.ts';

/** What the launch messages of a wave's ranks have in common and the run's record tells. */
type CommonLaunch = Omit<
  Launch,
  keyof RankFolders | 'placement' | 'groupRanks' | 'nodeRanks' | 'resumeFrom' | 'sourceFolder' | 'mpiProcesses'
>;

/** @throws UntrustedError if this user does not trust the project */
export function launchOf(
  { record, folder }: Pick<RunRecorder, 'record' | 'folder'>,
  placements: readonly Placement[],
  completion: Completion | null,
): CommonLaunch {
  const [{ wave }] = placements;
  const lostRanks = lostRanksOf(record).filter((lost) => placements.every(({ rank }) => rank !== lost));
  const hasFinished = (placement: Placement): boolean =>
    completion === null ? placement.wave < wave : !placements.includes(placement);
  const finished = record.plan.filter((placement) => hasFinished(placement) && !lostRanks.includes(placement.rank));
  return {
    runId: record.id,
    runFolder: folder,
    projectFolder: requireTrust(record.project.folder),
    dataFolders: dataFolders(),
    finishedRanks: finished.map(({ rank }) => rank),
    lostRanks,
    isInWaves: new Set(record.plan.map((placement) => placement.wave)).size > 1,
    until: completion === null ? null : positionOf(completion.until),
    config: plannedConfig(record),
    blas: record.blas,
    settings: currentSettings(record),
    attempt: record.attempts.length,
    forkedAt: forkedAt(record),
    labels: record.labels?.sha256 ?? null,
  };
}

/** The states from which ranks continue. */
export function statesAt(point: ResumePoint | null, { config }: Pick<RunRecord, 'config'>): Launch['resumeFrom'] {
  return point === null ? null : { round: point.round, worldSize: point.worldSize ?? config.members };
}

/**
 * The checkpoints of another run that the ranks start from. Only checkpoints: a record of others could name any file.
 */
export function warmStartsOf({ warmStart: { checkpoint }, members }: RunConfig): string[] {
  if (!checkpoint.endsWith('.safetensors')) return [];
  const paths = Array.from({ length: members }, (_, rank) => resolve(checkpoint.replaceAll('{rank}', String(rank))));
  return [...new Set(paths)];
}

function positionOf({ round, epoch, step }: ResumePoint): Launch['until'] {
  return { round, epoch, step };
}
