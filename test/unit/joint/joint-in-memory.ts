import { gatherBatch } from '../../../workers/data/dataset.ts';
import { tf, type Variable } from '../../../workers/tensorflow/tf.ts';
import { createRanks, type TrainedRank } from '../strategies/ranks.ts';
import { createExperts, digits, type Golden, loadWeights, numbersOf, readGolden, recordedWeights } from './experts.ts';
import { batchSize, type JointForm, optimizer, strictSteps } from './joint-forms.ts';

const images = digits();
const steps = 100;

interface Rank extends TrainedRank {
  experts: number[];
}

async function createExpertRanks({ members, expertsPerMember, strategy }: JointForm): Promise<Rank[]> {
  const expertsOf = (rank: number) => Array.from({ length: expertsPerMember }, (_, i) => rank * expertsPerMember + i);
  const create = (rank: number) => createExperts(expertsOf(rank));
  const ranks = await createRanks({ members, strategy, optimizer, seed: 0 }, { create, totalSteps: steps });
  return ranks.map((rank) => ({ ...rank, experts: expertsOf(rank.group.rank) }));
}

/** One step of all ranks, which share one loss. */
async function trainStep(ranks: readonly Rank[], step: number): Promise<number> {
  const batches = images.length / batchSize;
  const first = (step % batches) * batchSize;
  const batch = gatherBatch(
    images,
    Int32Array.from({ length: batchSize }, (_, i) => first + i),
  );
  const position = { epoch: Math.floor(step / batches), step, totalSteps: steps };
  const outcomes = await Promise.all(
    ranks.map(({ member, strategy }) => strategy.trainStep(member, batch, optimizer, position)),
  );
  const losses = outcomes.map((outcome) => outcome?.loss ?? NaN);
  if (new Set(losses).size > 1) throw new Error(`Ranks that train jointly have the losses ${losses.join(', ')}.`);
  return losses[0];
}

/** Sets an optimizer's velocities to the recorded ones. */
function loadVelocities({ member, experts }: Rank, golden: Golden, kind: string): void {
  for (const { weight, values } of recordedWeights(member.model, experts, golden, kind)) {
    const slot = member.optimizer.slots.get(`velocity.${member.variables.indexOf(weight.read() as Variable)}`);
    if (slot === undefined) throw new Error(`The optimizer keeps no velocity of ${weight.name}.`);
    tf.tidy(() => slot.assign(tf.tensor(values, slot.shape)));
  }
}

/** The largest distance of a rank's weights from the recorded ones. */
function weightError({ member, experts }: Rank, golden: Golden, kind: string): number {
  const distances = [...recordedWeights(member.model, experts, golden, kind)].map(({ weight, values }) => {
    const actual = weight.read().dataSync();
    return Math.max(...values.map((value, i) => Math.abs(value - actual[i])));
  });
  return Math.max(...distances);
}

/** The largest error of the losses in the first steps. */
export async function firstStepsError(seed: number, form: JointForm): Promise<number> {
  const golden = readGolden(seed);
  const expected = numbersOf(golden, 'losses');
  const ranks = await createExpertRanks(form);
  for (const { member, experts } of ranks) loadWeights(member.model, experts, golden, 'initial');
  const errors: number[] = [];
  for (let step = 0; step < strictSteps; step++) {
    errors.push(Math.abs((await trainStep(ranks, step)) - expected[step]));
  }
  return Math.max(...errors);
}

/** The largest error of loss and weights after one step from the golden weights, over its later steps. */
export async function laterStepsError(seed: number, form: JointForm): Promise<{ loss: number; weight: number }> {
  const golden = readGolden(seed);
  const ranks = await createExpertRanks(form);
  const errors = { loss: 0, weight: 0 };
  for (let step = strictSteps; step < steps; step += 5) {
    for (const rank of ranks) {
      loadWeights(rank.member.model, rank.experts, golden, `${step}/weights`);
      loadVelocities(rank, golden, `${step}/velocities`);
    }
    const loss = await trainStep(ranks, step);
    errors.loss = Math.max(errors.loss, Math.abs(loss - numbersOf(golden, `${step}/loss`)[0]));
    errors.weight = Math.max(errors.weight, ...ranks.map((rank) => weightError(rank, golden, `${step}/next`)));
  }
  return errors;
}
