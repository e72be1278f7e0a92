import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { findResumePoint, type ResumePoint } from '../../store/runs/resume-point.ts';
import { startOfRun } from '../fork/fork-points.ts';
import type { ResumeStart, RunRecorder } from '../recording/run-recorder.ts';
import type { Completion } from './completion.ts';

interface Attempted {
  recorder: RunRecorder;
  completion: Completion | null;
  resume: boolean;
  waves: readonly (readonly Placement[])[];
}

/**
 * Where an attempt's rows of metrics begin. Members of different waves, or a missing one, are at different steps, so
 * their rows are merged by key instead of cut off.
 * @param point where the ranks of the present wave continue; null: from their beginning
 */
export async function resumeStartOf(attempted: Attempted, point: ResumePoint | null): Promise<ResumeStart> {
  const { recorder, completion, resume, waves } = attempted;
  if (completion !== null)
    return { at: null, rows: null, states: [{ rank: completion.first, round: completion.until.round }] };
  if (waves.length > 1) {
    const points = resume ? await pointsOf(attempted) : [];
    return { at: null, rows: rowsBeforeStop(recorder, points), states: points };
  }
  const { epoch, step } = point ?? startOfRun(recorder.record);
  const states = point === null ? [] : [{ rank: waves[0][0].rank, round: point.round }];
  return { at: { epoch, step }, rows: rowsOf(recorder, point), states };
}

/** Rows before the last evaluation of the stop that ended the attempt before; null where it ended otherwise. */
function rowsOf({ record: { attempts } }: RunRecorder, point: ResumePoint | null): number | null {
  // Rows that attempts between the state's and this one added are no part of the count.
  const isRecent = point !== null && point.attempt >= attempts.length - 1;
  return isRecent ? point.metricRows : null;
}

/** The same for the wave that was stopped. */
function rowsBeforeStop(recorder: RunRecorder, points: readonly ResumePoint[]): number | null {
  return points.map((point) => rowsOf(recorder, point)).find((rows) => rows !== null) ?? null;
}

/** Where the waves that have begun continue, with the first rank of each. */
async function pointsOf({ recorder, waves }: Attempted): Promise<(ResumePoint & { rank: number })[]> {
  const points = await Promise.all(
    waves.map(async (wave) => {
      const point = await findResumePoint(
        recorder.folder,
        wave.map(({ rank }) => rank),
      );
      return point === null ? [] : [{ ...point, rank: wave[0].rank }];
    }),
  );
  return points.flat();
}
