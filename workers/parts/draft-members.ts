import type { CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import type { NamedTensor } from '../../core/safetensors/safetensors.ts';
import type { Dataset } from '../data/dataset.ts';
import { readWeights } from '../member/weights.ts';
import { Generator } from '../random/index.ts';
import type { Candidates, Draft } from './candidates.ts';
import type { Choice } from './choose-members.ts';
import { computeRunningStatistics, isRunningStatistic, type StatisticsSource } from './running-statistics.ts';
import { sampledTopology } from './sampled-topology.ts';
import { unrolledMembers } from './unrolled.ts';
import { noiseOf, sampleWeights, Trajectory, type TrajectoryMoments } from './swag.ts';

/** A model that becomes a member. */
export interface MemberDraft extends Draft {
  /** Whether it is a candidate as it is. */
  isCopy: boolean;
}

/**
 * The models of the chosen members: candidates, means of their weights, or draws. Members of the same candidates share one draft, unless they are drawn.
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
    const draft = known.get(key) ?? { ...(await candidates.meanOf(parts)), isCopy: parts.length === 1 };
    known.set(key, draft);
    drafts.push(draft);
  }
  return drafts;
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
    drafts.push({ ...drawn, tensors: await withStatistics(candidates, drawn, moments, source), isCopy: false });
  }
  return drafts;
}

/** Drawn weights with the running statistics that belong to them. Statistics that never changed were frozen, and stay. */
async function withStatistics(
  candidates: Candidates,
  drawn: Draft,
  { tensors }: TrajectoryMoments,
  source: Omit<StatisticsSource, 'isComputed'>,
): Promise<NamedTensor[]> {
  const isComputed = (name: string): boolean =>
    isRunningStatistic(name) && (tensors.get(name)?.variance.some((value) => value > 0) ?? false);
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
