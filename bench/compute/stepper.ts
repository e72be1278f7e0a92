import { createInterface } from 'node:readline';
import { blasSchema } from '../../protocol/blas.ts';
import { startBackend } from '../../workers/backends/backend.ts';
import { independentStrategy } from '../../workers/strategies/independent.ts';
import { tf } from '../../workers/tf.ts';
import { Member } from '../../workers/training/member.ts';
import { createOptimizer } from '../../workers/training/optimizers.ts';
import { cases } from './networks.ts';

/**
 * Trains as a worker does, on demand: each line `<case> <steps>` is answered with what each step took, in ms, and what memory holds.
 * Started by `bench/compute/steppers.ts` with a BLAS as JSON, or `null`.
 */

const backend = await startBackend('wasm', blasSchema.nullable().parse(JSON.parse(process.argv[2])));
const strategy = independentStrategy();
const members = new Map<string, Member>();

console.log(JSON.stringify({ description: backend.description }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, steps] = line.split(' ');
  const stepsMs = await train(name, Number(steps));
  console.log(JSON.stringify({ stepsMs, tensors: tf.memory().numTensors, heapBytes: backend.memoryBytes() }));
}

async function train(name: string, steps: number): Promise<number[]> {
  const { batch: makeBatch, optimizer } = cases[name];
  const member = members.get(name) ?? createMember(name);
  const batch = makeBatch();
  const stepsMs: number[] = [];
  for (let step = 0; step < steps; step++) {
    const startMs = performance.now();
    const position = { epoch: 0, step, totalSteps: steps };
    await strategy.trainStep(member, batch, { learningRate: optimizer.learningRate }, position);
    stepsMs.push(performance.now() - startMs);
  }
  return stepsMs;
}

function createMember(name: string): Member {
  const { model, task, optimizer } = cases[name];
  const member = new Member(
    model(),
    (outputs, targets) => task.loss(outputs, targets),
    (variables) => createOptimizer(optimizer, variables),
  );
  members.set(name, member);
  return member;
}
