import { endOfJob, requeue } from '../nodes/slurm-commands.ts';

/** The job of SLURM in which this process trains. */
export interface SlurmJob {
  id: string;
  /** When its time limit ends it; null where SLURM does not tell. */
  endsAt: Date | null;
}

/** Null outside of SLURM. */
export async function slurmJob(env: NodeJS.ProcessEnv = process.env): Promise<SlurmJob | null> {
  const { SLURM_JOB_ID: job, SLURM_ARRAY_JOB_ID: array, SLURM_ARRAY_TASK_ID: task, SLURM_JOB_END_TIME: end } = env;
  if (job === undefined) return null;
  // The number of an array's last task is that of the whole array.
  const id = array === undefined || task === undefined ? job : `${array}_${task}`;
  const isTold = end !== undefined && /^\d+$/.test(end);
  return { id, endsAt: isTold ? new Date(Number(end) * 1000) : await endOfJob(id) };
}

/** `SLURM's job 4711 may train until 2026-11-24T14:00:00Z. When ...` */
export function describeLimit({ id, endsAt }: SlurmJob): string {
  const until = endsAt === null ? 'has no time limit that is known' : `may train until ${endsAt.toISOString()}`;
  return (
    `SLURM's job ${id} ${until}. When SLURM sends USR1 before (sbatch --signal), the run stops jointly, and the ` +
    'job is requeued.'
  );
}

/** Signals that SLURM is asked to send before a job's time limit (`sbatch --signal`). */
const warnings = ['SIGUSR1', 'SIGUSR2'] as const;

/** Stops what trains when the time limit of its job is near. */
export class TimeLimitWatch {
  #isNear = false;
  readonly #release: () => void;

  /** @param stop lets what trains stop with its states */
  constructor(job: SlurmJob, stop: () => void, say: (line: string) => void) {
    const warn = (): void => {
      if (this.#isNear) return;
      this.#isNear = true;
      say(`The time limit of SLURM's job ${job.id} is near: stopping at the next step, to be requeued.`);
      stop();
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
