import { z } from 'zod';
import type { ProcessGroup } from '../../collectives/process-group.ts';
import { tf } from '../../tensorflow/tf.ts';
import type { ForwardPass } from '../../member/forward-pass.ts';
import { addGradients, type LossAndGradients, type Member } from '../../member/member.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import type { StepOutcome, Strategy } from '../strategy.ts';
import { type JointConfig, type SummedLogits, sumLogits } from './exchange.ts';
import { productLoss } from './product.ts';

const trafficSchema = z.strictObject({ bytes: z.number(), steps: z.int() });

/** A batch after its forward pass, while the ranks sum its logits. */
interface PendingStep {
  member: Member;
  pass: ForwardPass;
  /** Of the weights of the forward pass. */
  penalty: LossAndGradients | null;
  labels: ArrayLike<number>;
  settings: UpdateSettings;
  summed: Promise<SummedLogits>;
}

/**
 * Members that learn as one model: the loss is that of their product of experts q, the softmax of the mean logits, and the gradient
 * of each member's logits is (q − p) / (M·B) with one-hot labels p. A step has one forward pass and exchanges only logits (Webb,
 * 2019, "Distributed joint training of large ensembles with low communication overhead"). A rank adds its penalties (regularizers)
 * to its reported loss, and their gradients to those of the product.
 *
 * `pipelined` does the next batch's forward pass while the ranks sum the last one's logits. Gradients are then one step stale: they
 * belong to weights without the last update. The first step of each round has only a forward pass; `settle` completes the last.
 */
export function jointStrategy({ mode }: JointConfig): Strategy {
  let group: ProcessGroup;
  let pending: PendingStep | null = null;
  /** Since the last points, which may belong to an earlier attempt. */
  let traffic = { bytes: 0, steps: 0 };

  async function complete(step: PendingStep): Promise<StepOutcome> {
    const { sum, bytes } = await step.summed;
    traffic.bytes += bytes;
    traffic.steps += 1;
    return update(step, sum, group.worldSize);
  }

  return {
    name: 'joint',
    isLockstep: true,
    async setup(_, ownGroup, saved) {
      group = ownGroup;
      if (saved !== null) traffic = trafficSchema.parse(saved.data);
    },
    async trainStep(member, batch, settings) {
      const earlier = pending;
      const pass = member.forward(batch);
      const logits = (await pass.output.data()) as Float32Array;
      const summed = sumLogits(group, mode, logits);
      const penalty = await member.penalty();
      pending = { member, pass, penalty, labels: batch.targets, settings, summed };
      if (mode === 'pipelined') return earlier === null ? null : complete(earlier);
      return settle();
    },
    settle,
    async state() {
      return { tensors: [], data: { ...traffic } };
    },
    points() {
      const { bytes, steps } = traffic;
      traffic = { bytes: 0, steps: 0 };
      return new Map(steps === 0 ? [] : [[`train/member_${group.rank}_bytes_per_step`, bytes / steps]]);
    },
  };

  async function settle(): Promise<StepOutcome | null> {
    const last = pending;
    pending = null;
    return last === null ? null : complete(last);
  }
}

/** Backward pass and update, unless the loss is not finite. The product's loss is the same on all ranks. */
function update(step: PendingStep, sum: Float32Array, members: number): StepOutcome {
  const { member, pass, penalty, labels, settings } = step;
  const product = productLoss(sum, labels, members);
  const loss = product.loss + (penalty?.loss ?? 0);
  const updated = Number.isFinite(loss);
  if (!updated) {
    pass.discard();
    tf.dispose(penalty?.gradients.filter((tensor) => tensor !== null) ?? []);
    return { loss, updated };
  }
  const outputGradient = tf.tensor(product.gradient, pass.output.shape, 'float32');
  const ofProduct = pass.backward(outputGradient);
  const gradients = penalty === null ? ofProduct : addGradients(ofProduct, penalty.gradients);
  member.applyGradients(gradients, settings);
  tf.dispose([outputGradient, ...gradients.filter((tensor) => tensor !== null)]);
  return { loss, updated, learningRate: settings.learningRate };
}
