import type { CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { Dataset } from '../data/dataset.ts';
import { readWeights, writeWeights } from '../member/weights.ts';
import { Generator } from '../random/index.ts';
import type { Candidates, Draft } from './candidates.ts';
import type { Choice } from './choose-members.ts';
import { computeRunningStatistics, isRunningStatistic, type StatisticsSource } from './running-statistics.ts';
import { noiseOf, sampleWeights, Trajectory, type TrajectoryMoments } from './swag.ts';
import type { SharedWeights } from '../tensorflow/layers/inner/inner-layer.ts';
import { type LayersModel, tf, type Variable } from '../tensorflow/tf.ts';
import { modelFromTopology } from '../tensorflow/topology.ts';
import { countInnerMembers, unrolledTopology } from './unrolled-topology.ts';
import { type MaskSource, sampledKinds } from '../tensorflow/layers/sampled-dropout.ts';

/** A layer, or anything else with a class, in a description of an architecture. */
interface Described {
  class_name: string;
  config: Record<string, unknown>;
}

/**
 * The architecture of a draw of MC dropout: each dropout layer with a rate between 0 and 1 has a mask of its own
 * instead, which stays the same for all samples. The weights' names do not change.
 *
 * @param topology as a run keeps it
 * @param subject names the checkpoint, for messages
 * @throws Error where the model has no such layer, or one whose masks are drawn inside of it
 */
export function sampledTopology(
  topology: string,
  { seed, draw }: Pick<MaskSource, 'seed' | 'draw'>,
  subject: string,
): string {
  let layers = 0;
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== 'object' || value === null) return value;
    if (!isDescribed(value)) return mapValues(value, replace);
    refuseHiddenMasks(value, subject);
    if (!isDropout(value) || !isActive(value.config.rate)) return mapValues(value, replace);
    // Functional models name their layers, and say what they are called with, beside the configuration.
    return { ...value, ...sampled(value, { seed, draw, layer: layers++ }) };
  };
  const replaced = JSON.stringify(replace(JSON.parse(topology)));
  if (layers > 0) return replaced;
  throw new Error(
    `The model of ${subject} has no dropout layer with a rate between 0 and 1, so all draws of --method mc-dropout ` +
      'would be the same. Use --method swag or snapshots.',
  );
}

function sampled({ class_name: kind, config }: Described, source: Pick<MaskSource, 'seed' | 'draw' | 'layer'>): object {
  const { noise_shape: given = null, rate, seed: _own, ...rest } = config;
  // Spatial dropout drops a feature in all steps.
  const noiseShape = kind === 'SpatialDropout1D' ? [null, 1, null] : given;
  const distribution = sampledKinds[kind as keyof typeof sampledKinds];
  return {
    class_name: 'SampledDropout',
    config: { ...rest, kind: distribution, rate, noise_shape: noiseShape, ...source },
  };
}

function isDescribed(value: object): value is Described {
  const { class_name: name, config } = value as Partial<Described>;
  return typeof name === 'string' && typeof config === 'object' && config !== null;
}

const isDropout = ({ class_name: name }: Described): boolean => Object.hasOwn(sampledKinds, name);
const isActive = (rate: unknown): boolean => typeof rate === 'number' && rate > 0 && rate < 1;

/**
 * Recurrent layers draw masks for their gates inside of a step, where no layer can take their place: the recurrent ops
 * of ONNX and PyTorch take none. Alpha dropout adds values.
 */
function refuseHiddenMasks({ class_name: kind, config }: Described, subject: string): void {
  const option = ['dropout', 'recurrent_dropout'].find((name) => isActive(config[name]));
  const isAlpha = kind === 'AlphaDropout' && isActive(config.rate);
  if (option === undefined && !isAlpha) return;
  const reason = isAlpha
    ? 'alpha dropout also adds values'
    : 'a recurrent layer draws its masks for its gates inside of each step, and the recurrent layers of ONNX and ' +
      'PyTorch, which a member must be written to, take no masks';
  throw new Error(
    `--method mc-dropout draws the masks of ${Object.keys(sampledKinds).join(', ')} alone, but the model of ` +
      `${subject} has the layer "${String(config.name)}" ` +
      `(${kind})${option === undefined ? '' : ` with ${option} ${String(config[option])}`}: ${reason}. Train the ` +
      'model with a dropout layer in its place, or use --method swag or snapshots.',
  );
}

function mapValues(value: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, change(own)]));
}

/** A model that becomes a member. */
export interface MemberDraft extends Draft {
  /** Whether it is a candidate as it is. */
  isCopy: boolean;
}

/**
 * The models of the chosen members: candidates, means of their weights, or draws. Members of the same candidates share
 * one draft, unless they are drawn.
 * @param train for the running statistics of drawn weights
 */
export async function draftMembers(
  request: CombineTask,
  candidates: Candidates,
  { members }: Choice,
  train: Dataset,
): Promise<MemberDraft[]> {
  if (request.method === 'swag') return drawSwag(request, candidates, members, train);
  if (request.method === 'mc-dropout') return drawDropout(candidates, members);
  if (request.method === 'unroll') return unroll(candidates, members);
  const known = new Map<string, MemberDraft>();
  const drafts: MemberDraft[] = [];
  for (const parts of members) {
    const key = parts.join();
    const draft = known.get(key) ?? { ...(await meanDraft(candidates, parts, train)), isCopy: parts.length === 1 };
    known.set(key, draft);
    drafts.push(draft);
  }
  return drafts;
}

/**
 * The mean of candidates' weights, with running statistics of batch normalization that belong to it: those of other
 * weights describe activations that the mean does not have. Statistics in which the candidates do not differ were
 * frozen, and stay.
 *
 * @param train is passed once where the model has such statistics
 */
export async function meanDraft(candidates: Candidates, parts: readonly number[], train: Dataset): Promise<Draft> {
  const mean = await candidates.meanOf(parts);
  if (parts.length === 1 || !mean.tensors.some(({ name }) => isRunningStatistic(name))) return mean;
  const changed = await changedStatistics(candidates, mean);
  const { seed, batchSize } = candidates.configOf(parts[0]);
  const source = { dataset: train, batchSize, generator: new Generator(seed, `soup-statistics/${parts.join()}`) };
  return { ...mean, tensors: await withStatistics(candidates, mean, changed, source) };
}

/** Names of the statistics in which candidates differ. */
async function changedStatistics(candidates: Candidates, { parts, topology }: Draft): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  const [first, ...others] = parts;
  const own = new Map((await candidates.weightsLike(topology, first, first)).map(({ name, data }) => [name, data]));
  for (const other of others) {
    for (const { name, data } of await candidates.weightsLike(topology, other, first)) {
      const before = own.get(name);
      if (isRunningStatistic(name) && data.some((value, i) => value !== before?.[i])) changed.add(name);
    }
  }
  return changed;
}

/** Each member has its own stream of random numbers, so that it is the same however many there are. */
async function drawDropout(candidates: Candidates, members: Choice['members']): Promise<MemberDraft[]> {
  const drafts: MemberDraft[] = [];
  let trained: Draft | null = null;
  for (const [draw, parts] of members.entries()) {
    const [candidate] = parts;
    // The draws of a candidate follow each other and share its weights.
    if (trained?.parts[0] !== candidate) trained = await candidates.meanOf(parts);
    await candidates.requireRegistered(candidate, trained.topology);
    const { seed } = candidates.configOf(candidate);
    const topology = sampledTopology(trained.topology, { seed, draw }, candidates.nameOf(candidate));
    drafts.push({ ...trained, topology, isCopy: false });
  }
  return drafts;
}

/** The inner members of a candidate follow each other. */
async function unroll(candidates: Candidates, members: Choice['members']): Promise<MemberDraft[]> {
  const drafts: MemberDraft[] = [];
  for (const candidate of new Set(members.flat())) {
    const { topology, tensors } = await candidates.meanOf([candidate]);
    await candidates.requireRegistered(candidate, topology);
    const own = await unrolledMembers({ topology, tensors }, candidates.nameOf(candidate));
    drafts.push(...own.map((member) => ({ ...member, parts: [candidate], isCopy: false })));
  }
  return drafts;
}

async function drawSwag(
  { deviations }: CombineTask,
  candidates: Candidates,
  members: Choice['members'],
  train: Dataset,
): Promise<MemberDraft[]> {
  const drafts: MemberDraft[] = [];
  let before = '';
  let moments: TrajectoryMoments = { tensors: new Map(), columns: 0 };
  for (const [draw, parts] of members.entries()) {
    // The draws of a trajectory follow each other, and memory may not hold the deviations of several.
    if (before !== parts.join()) moments = await momentsOf(candidates, parts, deviations);
    before = parts.join();
    const topology = await candidates.topology(parts[0]);
    const { seed, batchSize } = candidates.configOf(parts[0]);
    const noise = noiseOf(new Generator(seed, `swag/${draw}`), moments.columns);
    const drawn = { parts, topology, tensors: sampleWeights(moments, noise, (name) => !isRunningStatistic(name)) };
    const source = { dataset: train, batchSize, generator: new Generator(seed, `swag-statistics/${draw}`) };
    drafts.push({
      ...drawn,
      tensors: await withStatistics(candidates, drawn, changedIn(moments), source),
      isCopy: false,
    });
  }
  return drafts;
}

/** Names of the statistics that changed over a trajectory: others were frozen. */
function changedIn({ tensors }: TrajectoryMoments): ReadonlySet<string> {
  const names = [...tensors].flatMap(([name, { variance }]) => (variance.some((value) => value > 0) ? name : []));
  return new Set(names.filter(isRunningStatistic));
}

/**
 * New weights with the running statistics that belong to them.
 * @param changed names of the statistics that are computed; the others stay
 */
async function withStatistics(
  candidates: Candidates,
  drawn: Draft,
  changed: ReadonlySet<string>,
  source: Omit<StatisticsSource, 'isComputed'>,
): Promise<NamedTensor[]> {
  const isComputed = (name: string): boolean => changed.has(name);
  // The first batch takes the place of zeros without rounding.
  for (const { name, data } of drawn.tensors) if (isComputed(name)) (data as Float32Array).fill(0);
  const model = await candidates.modelOf(drawn);
  await computeRunningStatistics(model, { ...source, isComputed });
  return readWeights(model);
}

async function momentsOf(
  candidates: Candidates,
  parts: readonly number[],
  deviations: number,
): Promise<TrajectoryMoments> {
  const trajectory = new Trajectory(deviations);
  const topology = await candidates.topology(parts[0]);
  for (const part of parts) trajectory.add(await candidates.weightsLike(topology, part, parts[0]));
  return trajectory.moments();
}

/** A network of its own. */
interface UnrolledMember {
  topology: string;
  tensors: NamedTensor[];
}

/**
 * The inner members of a network as networks of plain layers. Each predicts what the member predicts.
 * @param subject names the checkpoint, for messages
 * @throws Error where the network has no inner members, or a layer that is not registered
 */
export async function unrolledMembers(
  { topology, tensors }: UnrolledMember,
  subject: string,
): Promise<UnrolledMember[]> {
  const count = countInnerMembers(topology, subject);
  const model = await modelFromTopology(topology, subject);
  writeWeights(model, tensors, subject);
  const own = unrolledTopology(topology);
  const plain = await modelFromTopology(own, subject);
  const found: UnrolledMember[] = [];
  for (let member = 0; member < count; member++) {
    copyMember(model, plain, member);
    found.push({ topology: own, tensors: await readWeights(plain) });
  }
  model.dispose();
  plain.dispose();
  return found;
}

function copyMember(model: LayersModel, plain: LayersModel, member: number): void {
  tf.tidy(() => {
    for (const layer of model.layers.filter(({ weights }) => weights.length > 0)) {
      const values = hasSharedWeights(layer) ? layer.weightsOfMember(member) : layer.getWeights();
      const { weights } = plain.getLayer(layer.name);
      // `setWeights` would apply constraints, which hold for the shared kernel.
      weights.forEach((weight, i) => (weight.read() as Variable).assign(values[i]));
    }
  });
}

function hasSharedWeights(layer: object): layer is SharedWeights {
  return 'weightsOfMember' in layer;
}
