import type { RunConfigInput } from '../../../core/protocol/run/config.ts';

export const optimizer = { kind: 'sgd', learningRate: 0.5, momentum: 0.9, nesterov: false, weightDecay: 0 } as const;
export const batchSize = 100;

/** The first steps are compared with PyTorch in sequence, and each later one from the golden weights. */
export const strictSteps = 50;
export const lossTolerance = 1e-4;
export const weightTolerance = 1e-5;
export const seeds = [0, 1, 2];

export interface JointForm {
  form: string;
  members: number;
  expertsPerMember: number;
  strategy: RunConfigInput['strategy'] & { kind: 'independent' | 'joint' };
}

/** A way to train ten experts as one model. */
export const jointForms: JointForm[] = [
  { form: 'in one graph', members: 1, expertsPerMember: 10, strategy: { kind: 'independent' } },
  { form: 'each in a rank', members: 10, expertsPerMember: 1, strategy: { kind: 'joint' } },
  { form: 'five in each of two ranks', members: 2, expertsPerMember: 5, strategy: { kind: 'joint' } },
];
