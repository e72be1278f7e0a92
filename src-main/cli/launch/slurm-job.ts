import { requeue } from '../../nodes/slurm/commands.ts';
import type { RunSession } from '../../runs/attempt/run-session.ts';

/** The job of SLURM in which this process trains. */
export interface SlurmJob {
  id: string;
  /** When its time limit ends it; null where SLURM does not tell. */
  endsAt: Date | null;
}

/** Null outside of SLURM. */
export function slurmJob(env: NodeJS.ProcessEnv = process.env): SlurmJob | null {
  const { SLURM_JOB_ID: id, SLURM_JOB_END_TIME: end } = env;
  if (id === undefined) return null;
  return { id, endsAt: end !== undefined && /^\d+$/.test(end) ? new Date(Number(end) * 1000) : null };
}

/** `SLURM's job 4711 may train until 2026-11-24T14:00:00Z. When ...` */
export function describeLimit({ id, endsAt }: SlurmJob): string {
  const until =
    endsAt === null ? 'has a time limit that SLURM does not tell' : `may train until ${endsAt.toISOString()}`;
  return `SLURM's job ${id} ${until}. When SLURM sends USR1 before (sbatch --signal), the run stops jointly, and the job is requeued.`;
}

/** Signals that SLURM is asked to send before a job's time limit (`sbatch --signal`). */
const warnings = ['SIGUSR1', 'SIGUSR2'] as const;

/** Stops a run jointly when the time limit of its job is near. */
export class TimeLimitWatch {
  #isNear = false;
  readonly #release: () => void;

  constructor(job: SlurmJob, session: Pick<RunSession, 'control'>, say: (line: string) => void) {
    const warn = (): void => {
      if (this.#isNear) return;
      this.#isNear = true;
      say(`The time limit of SLURM's job ${job.id} is near: stopping jointly at the next step, to be requeued.`);
      session.control({ action: 'stop' });
    };
    for (const signal of warnings) process.on(signal, warn);
    this.#release = () => {
      for (const signal of warnings) process.off(signal, warn);
    };
  }

  /** Whether the limit has stopped the run. */
  get isNear(): boolean {
    return this.#isNear;
  }

  release(): void {
    this.#release();
  }
}

/** Lets a job start again, whose script resumes the run. A failure is no error of the run. */
export async function requeueJob({ id }: SlurmJob, say: (line: string) => void): Promise<void> {
  try {
    await requeue(id);
    say(`SLURM's job ${id} was requeued.`);
  } catch (error) {
    say(`The job could not be requeued (${error instanceof Error ? error.message : String(error)}). Submit it again.`);
  }
}
