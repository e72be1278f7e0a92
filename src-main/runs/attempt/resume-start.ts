import type { Placement } from '../../../core/protocol/machine/devices.ts';
import { findResumePoint, type ResumePoint } from '../../store/runs/resume-point.ts';
import { startOfRun } from '../fork/fork-start.ts';
import type { ResumeStart, RunRecorder } from '../recording/run-recorder.ts';
import type { Completion } from './completion.ts';

interface Attempted {
  recorder: RunRecorder;
  completion: Completion | null;
  resume: boolean;
  waves: readonly (readonly Placement[])[];
}

/**
 * Where an attempt's rows of metrics begin. Members of different waves, or a missing one, are at different steps, so their rows are merged by key instead of cut
 * off.
 * @param point where the ranks of the present wave continue; null: from their beginning
 */
export async function resumeStartOf(attempted: Attempted, point: ResumePoint | null): Promise<ResumeStart> {
  const { recorder, completion, waves } = attempted;
  if (completion !== null) return { at: null, rows: null };
  if (waves.length > 1) return { at: null, rows: await rowsBeforeStop(attempted) };
  const { epoch, step } = point ?? startOfRun(recorder.record);
  return { at: { epoch, step }, rows: rowsOf(recorder, point) };
}

/** Rows before the last evaluation of the stop that ended the attempt before; null where it ended otherwise. */
function rowsOf({ record: { attempts } }: RunRecorder, point: ResumePoint | null): number | null {
  // Rows that attempts between the state's and this one added are no part of the count.
  const isRecent = point?.attempt !== undefined && point.attempt >= attempts.length - 1;
  return isRecent ? point.metricRows : null;
}

/** The same for the wave that was stopped. */
async function rowsBeforeStop({ recorder, resume, waves }: Attempted): Promise<number | null> {
  if (!resume) return null;
  const ranksOf = (wave: readonly Placement[]): number[] => wave.map(({ rank }) => rank);
  const points = await Promise.all(waves.map((wave) => findResumePoint(recorder.folder, ranksOf(wave))));
  return points.map((point) => rowsOf(recorder, point)).find((rows) => rows !== null) ?? null;
}
