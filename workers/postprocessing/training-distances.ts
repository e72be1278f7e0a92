import {
  type DistanceScore,
  distancesFrom,
  fitReference,
  looksAtInputs,
  meanDistances,
  mostGaussianValues,
  type Reference,
} from '../../core/postprocessing/outside/distances.ts';
import type { TaskKind } from '../../core/metrics/registry/metric.ts';
import { Generator } from '../../core/random/generator.ts';
import { type Dataset, subset } from '../data/dataset.ts';
import { gatherRows } from '../data/fields.ts';
import {
  type Features,
  NoDistanceError,
  predictFeatures,
  preparedInputs,
  withFeatures,
} from '../inference/features.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { predictsClasses, usedRows } from './held-out-samples.ts';

/** Most training samples that means and covariances are fitted on, and most of them to compare others with. */
const [MOST_FITTED, MOST_COMPARED] = [5000, 1000];

/** The members' models one after the other, each with its weights until the next one comes. */
export type EachModel = () => AsyncIterable<LayersModel>;

/**
 * What distances are measured from: for each score a reference for each member, or one for the inputs, which all
 * members share.
 */
export type References = ReadonlyMap<DistanceScore, readonly Reference[]>;

/** At most 5,000 training samples by chance. @throws Error where they come as a stream */
export function trainingPart(train: Dataset, seed: number): Dataset {
  const order = new Generator(seed, 'postprocessing/reference').permutation(train.length);
  return subset(train, order.subarray(0, MOST_FITTED));
}

/** The same for scores of which some may suit neither the model nor its inputs: these are left out. */
export async function fitPossibleReferences(
  scores: readonly DistanceScore[],
  ...rest: [train: Dataset, models: EachModel, task: TaskKind]
): Promise<References> {
  const found: [DistanceScore, readonly Reference[]][] = [];
  for (const score of scores) {
    try {
      found.push(...(await fitReferences([score], ...rest)));
    } catch (error) {
      if (!(error instanceof NoDistanceError)) throw error;
    }
  }
  return new Map(found);
}

/**
 * Fits references on training samples.
 *
 * @param train see {@link trainingPart}
 * @param task classes have a mean each
 * @throws Error where a score suits neither the model nor its inputs
 */
export async function fitReferences(
  scores: readonly DistanceScore[],
  train: Dataset,
  models: EachModel,
  task: TaskKind,
): Promise<References> {
  const references = new Map(scores.map((score): [DistanceScore, Reference[]] => [score, []]));
  await eachView(scores, train, models, (own, features) => {
    const used = usedFeatures(features, train, task);
    for (const score of own) references.get(score)?.push(referenceOf(score, used));
  });
  return references;
}

/** Distances of the rows of a data set, averaged over the members; shape `[N]` for each score. */
export async function distancesTo(
  references: References,
  dataset: Dataset,
  models: EachModel,
  rows: Int32Array,
): Promise<Partial<Record<DistanceScore, Float64Array>>> {
  const found = new Map([...references.keys()].map((score): [DistanceScore, Float64Array[]] => [score, []]));
  await eachView([...references.keys()], dataset, models, (own, { values, size }, member) => {
    const chosen = gatherRows(values, values.length / size, rows);
    for (const score of own) {
      const reference = references.get(score)?.[member];
      if (reference !== undefined) found.get(score)?.push(distancesFrom(reference, chosen));
    }
  });
  return Object.fromEntries([...found].map(([score, distances]) => [score, meanDistances(distances)]));
}

/** Looks at the inputs once, and at the features of one member after the other, as far as the scores need it. */
async function eachView(
  scores: readonly DistanceScore[],
  dataset: Dataset,
  models: EachModel,
  visit: (scores: readonly DistanceScore[], features: Features, member: number) => void,
): Promise<void> {
  const ofInputs = scores.filter((score) => looksAtInputs(score));
  const ofFeatures = scores.filter((score) => !looksAtInputs(score));
  let member = 0;
  for await (const model of models()) {
    if (ofInputs.length > 0 && member === 0) visit(ofInputs, await preparedInputs(model, dataset), 0);
    if (ofFeatures.length === 0) return;
    visit(ofFeatures, await predictFeatures(withFeatures(model), dataset), member);
    member += 1;
  }
}

interface UsedFeatures extends Features {
  labels: Int32Array | null;
}

/** Features of the rows whose targets count, with their classes. */
function usedFeatures({ values, size }: Features, dataset: Dataset, task: TaskKind): UsedFeatures {
  const count = values.length / size;
  const rows = usedRows(dataset, count / dataset.length).subarray(0, MOST_FITTED);
  return {
    values: gatherRows(values, count, rows),
    size,
    labels: predictsClasses(task) ? Int32Array.from(rows, (row) => dataset.targets[row]) : null,
  };
}

function referenceOf(score: DistanceScore, { values, size, labels }: UsedFeatures): Reference {
  if (score === 'knn' || score === 'input-knn') {
    return fitReference(score, values.subarray(0, MOST_COMPARED * size), size, labels);
  }
  if (size <= mostGaussianValues) return fitReference(score, values, size, labels);
  throw new NoDistanceError(
    `The score ${score} needs samples of at most ${mostGaussianValues} values, because its covariance has their ` +
      `square; these have ${size}. Take ${score === 'mahalanobis' ? 'knn' : 'input-knn'}: --outside.`,
  );
}
