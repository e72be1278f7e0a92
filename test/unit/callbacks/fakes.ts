import { type MemberCount, memberCount } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import type { Callback, Evaluation, Training } from '../../../workers/callbacks/callback.ts';
import { ProcessGroup } from '../../../workers/collectives/process-group.ts';
import { createDataset } from '../../../workers/data/dataset.ts';
import type { LayersModel } from '../../../workers/tensorflow/tf.ts';
import type { Predictions } from '../../../workers/member/predictions.ts';

/** A rank's training as its callbacks see it. Records their actions. */
export class FakeTraining implements Training {
  readonly group: ProcessGroup;
  readonly members: MemberCount;
  readonly lostMembers: number = 0;
  epoch = 0;
  step = 0;
  isStandingBy = false;
  stopVotes = 0;
  readonly saved: { name: string; epoch: number; monitor: string | null; score: number | null }[] = [];
  readonly keptPredictions: { name: string; predictions: Predictions }[] = [];
  readonly announcements: string[] = [];
  readonly logged: [metric: string, value: number][] = [];

  constructor(options: { group?: ProcessGroup; members?: number; rank?: number } = {}) {
    this.group = options.group ?? ProcessGroup.alone(options.rank ?? 0);
    this.members = memberCount(options.members ?? 1);
  }

  get rank(): number {
    return this.group.rank;
  }

  get model(): LayersModel {
    throw new Error('No callback of these tests looks at the model.');
  }

  async saveCheckpoint(name: string, monitor: string | null, score: number | null): Promise<void> {
    this.saved.push({ name, epoch: this.epoch, monitor, score });
  }

  async savePredictions(name: string, predictions: Predictions): Promise<void> {
    this.keptPredictions.push({ name, predictions });
  }

  requestStop(): void {
    this.stopVotes += 1;
  }

  standBy(): void {
    this.isStandingBy = true;
  }

  announce(kind: string, message: string): void {
    this.announcements.push(`${kind}: ${message}`);
  }

  log(metric: string, value: number): void {
    this.logged.push([metric, value]);
  }
}

const targets = Int32Array.of(0, 1);
export const twoSamples = createDataset({
  name: 'two samples',
  featureShape: [1],
  features: Float32Array.of(0, 1),
  targets,
  classCount: 2,
});

/** An evaluation of two samples with these metrics. */
export function evaluationOf(metrics: Record<string, number>, fields: Partial<Evaluation> = {}): Evaluation {
  const predictions = { kind: 'probabilities' as const, samples: 2, width: 2, values: [Float32Array.of(1, 0, 0, 1)] };
  return { dataset: twoSamples, predictions, epoch: 0, metrics: new Map(Object.entries(metrics)), ...fields };
}

/** Shows a callback one metric over the epochs. */
export async function showSeries(
  callback: Callback,
  training: FakeTraining,
  name: string,
  values: readonly number[],
): Promise<void> {
  for (const [index, value] of values.entries()) {
    training.epoch = index;
    await callback.onEvaluation?.(training, evaluationOf({ [name]: value }, { epoch: index }));
  }
}
