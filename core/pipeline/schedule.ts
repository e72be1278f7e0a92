/**
 * Schedules of a pipeline: the order in which a stage does the forward and backward passes of a step's micro-batches. `S` stages, numbered from 0;
 * `M` micro-batches.
 */

/** A pass of one micro-batch through a stage. */
export interface Instruction {
  pass: 'forward' | 'backward';
  /** Index of the micro-batch, from 0. */
  part: number;
}

export type ScheduleKind = '1f1b' | 'gpipe';

/**
 * The passes of one stage in a step. Backward passes have the order of the micro-batches in both schedules, so that both add gradients in the same
 * order and give the same bits.
 *
 * - `gpipe`: all forward passes, then all backward passes; M activations are in flight (Huang et al., 2019, "GPipe").
 * - `1f1b`: after min(S − 1 − s, M) forward passes, stage s does one forward and one backward pass in turn; at most S − s activations are in flight
 *   (Narayanan et al., 2021, "Memory-efficient pipeline-parallel DNN training", PipeDream-flush).
 *
 * @throws RangeError for a stage outside of 0 to S − 1
 */
export function stageSchedule(kind: ScheduleKind, stages: number, stage: number, parts: number): Instruction[] {
  if (!(stage >= 0 && stage < stages)) throw new RangeError(`Stage ${stage} is not one of 0 to ${stages - 1}.`);
  const ahead = Math.min(kind === 'gpipe' ? parts : stages - 1 - stage, parts);
  const instructions: Instruction[] = [];
  for (let part = 0; part < ahead; part++) instructions.push({ pass: 'forward', part });
  for (let part = 0; part < parts; part++) {
    if (ahead + part < parts) instructions.push({ pass: 'forward', part: ahead + part });
    instructions.push({ pass: 'backward', part });
  }
  return instructions;
}

/** Micro-batches whose activations a stage holds at most: min(S − s, M) with `1f1b`, M with `gpipe`. */
export function mostInFlight(kind: ScheduleKind, stages: number, stage: number, parts: number): number {
  return kind === 'gpipe' ? parts : Math.min(stages - stage, parts);
}

/** Share of a step in which a stage of S equal ones waits: (S − 1) / (M + S − 1), in both schedules (Huang et al., 2019). */
export function bubbleFraction(stages: number, parts: number): number {
  return (stages - 1) / (parts + stages - 1);
}
