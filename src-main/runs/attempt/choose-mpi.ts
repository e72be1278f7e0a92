import { askedPerWorker } from '../../../core/protocol/run/workers.ts';
import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { lockstepReason, mayShrink } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { taskOf } from '../../nodes/place.ts';
import type { TaskServer } from '../../nodes/task-server.ts';

/** What a launch offers to an exchange by MPI. */
export type MpiOffer = TaskServer['mpi'];

export interface MpiChoice {
  /** Whether arrays go by MPI, if the job of MPI has not been entered before. */
  isChosen: boolean;
  /** Why they do not, although it would suit the run: an event's message. */
  reason: string | null;
}

/**
 * Whether the arrays of a wave go by MPI. `auto` chooses it for ranks that need each other at every step, one in each
 * task of a launcher of MPI, on several nodes. On one node memory is faster; independent members gain nothing, and
 * would end with the job; and a launch whose nodes may come and go has no job.
 * @param mayUseNetwork whether the project may use the network, which MPI needs
 */
export function chooseMpi(
  { config, plan }: Pick<RunRecord, 'config' | 'plan'>,
  wave: readonly Placement[],
  offer: MpiOffer | null,
  mayUseNetwork: () => boolean,
): MpiChoice {
  const { collectives } = config;
  if (collectives !== 'auto') return { isChosen: collectives === 'mpi' && wave.length > 1, reason: null };
  const isCoupled = lockstepReason(config) !== null && askedPerWorker(config) === 1 && !mayShrink(config);
  const tasks = new Set(wave.map(({ device }) => taskOf(device)));
  const isWhole = wave.length === plan.length && tasks.size === wave.length && tasks.size === offer?.processes;
  const isSpread = new Set(wave.map(({ device }) => device.node?.name)).size > 1;
  if (offer === null || !isCoupled || !isWhole || !isSpread) return { isChosen: false, reason: null };
  const noNetwork = 'MPI needs the network, which the project may not use; --collectives mpi lets its workers use it';
  const obstacle = offer.obstacle ?? (mayUseNetwork() ? null : noNetwork);
  if (obstacle === null) return { isChosen: true, reason: null };
  return {
    isChosen: false,
    reason: `Arrays go through the hub, although a launcher of MPI has started the tasks: ${obstacle}.`,
  };
}

/** What entering MPI needs of a run's recorder. */
export interface EventRecorder {
  record: { attempts: readonly unknown[] };
  event(rank: null, kind: 'large-arrays', message: string): void;
}

/**
 * A job of MPI can be entered once: after the loss of a process, and in later runs of a sweep, ranks exchange arrays
 * through the hub. A run that is resumed without a launcher exchanges them as on one machine.
 * @returns its processes
 */
export function enterMpi(
  { isChosen, reason }: MpiChoice,
  wave: readonly Placement[],
  tasks: Pick<TaskServer, 'enterMpi'> | null,
  recorder: EventRecorder,
): number | null {
  const isAlone = tasks === null && recorder.record.attempts.length > 1;
  const isFree = isChosen && !isAlone && tasks?.enterMpi() !== false;
  const instead = isAlone
    ? 'Arrays go as on one machine: no launcher has started this attempt.'
    : 'Arrays go through the hub: an earlier attempt or run has entered the job of MPI.';
  const told = isChosen && !isFree ? instead : reason;
  if (told !== null) recorder.event(null, 'large-arrays', told);
  return isFree ? wave.length : null;
}
