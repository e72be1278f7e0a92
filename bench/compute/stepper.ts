import { createInterface } from 'node:readline';
import { blasSchema } from '../../core/protocol/machine/devices.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { ProcessGroup } from '../../workers/collectives/process-group.ts';
import { MemberStack } from '../../workers/stacked/member-stack.ts';
import { independentStrategy } from '../../workers/strategies/independent.ts';
import type { Strategy } from '../../workers/strategies/strategy.ts';
import { tf } from '../../workers/tensorflow/tf.ts';
import { type LossFunction, Member } from '../../workers/member/member.ts';
import { createOptimizer, updateRuleOf } from '../../workers/optimizers/optimizers.ts';
import { layerCases } from './layers.ts';
import { cases as networks, type TrainingCase } from './networks.ts';

/**
 * Trains as a worker does, on demand: answers each line `<case> <steps>` with the time of each step in ms, and the
 * memory in use. Started by `bench/compute/steppers.ts` with a BLAS as JSON, or `null`.
 */

const [, , blas, threads = '1'] = process.argv;
const backend = await startBackend('wasm', {
  blas: blasSchema.nullable().parse(JSON.parse(blas)),
  threads: Number(threads),
});
const cases: Record<string, TrainingCase> = { ...networks, ...layerCases };
const trainees = new Map<string, Trainee[]>();

/** A model with the parts of its training step. */
interface Trainee {
  member: Member;
  strategy: Strategy;
}

console.log(JSON.stringify({ description: backend.description }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, steps] = line.split(' ');
  const stepsMs = await train(name, Number(steps));
  console.log(JSON.stringify({ stepsMs, tensors: tf.memory().numTensors, heapBytes: backend.memoryBytes() }));
}

async function train(name: string, steps: number): Promise<number[]> {
  const { batch: makeBatch, optimizer, members } = cases[name];
  const trained = trainees.get(name) ?? (await createTrainees(name));
  const batch = makeBatch();
  const stepsMs: number[] = [];
  for (let step = 0; step < steps; step++) {
    const startMs = performance.now();
    const position = { epoch: 0, step, totalSteps: steps };
    const settings = { learningRate: optimizer.learningRate };
    const makeStep = ({ member, strategy }: Trainee) => strategy.trainStep(member, batch, settings, position);
    if (members?.isStacked === true) await Promise.all(trained.map(makeStep));
    else for (const trainee of trained) await makeStep(trainee);
    stepsMs.push(performance.now() - startMs);
  }
  return stepsMs;
}

async function createTrainees(name: string): Promise<Trainee[]> {
  const { model, task, optimizer, members = { count: 1, isStacked: false } } = cases[name];
  const stack = new MemberStack({
    rule: updateRuleOf(optimizer),
    sharesBatches: false,
    losses: (outputs, targets) => task.loss(outputs, targets),
  });
  const trained = Array.from({ length: members.count }, (): Trainee => {
    const loss: LossFunction = (outputs, targets) => task.loss(outputs, targets);
    const member = new Member(model(), loss, (variables) => createOptimizer(optimizer, variables));
    return { member, strategy: members.isStacked ? stack.join((body) => body()) : independentStrategy() };
  });
  for (const { member, strategy } of trained) await strategy.setup(member, ProcessGroup.alone(0), null);
  trainees.set(name, trained);
  return trained;
}
