import { answeredProbabilities, answeredValues } from '../../../../core/metrics/combination.ts';
import {
  entropy,
  memberProbabilities,
  mostProbableClass,
  mutualInformation,
  type Probabilities,
  stackedClasses,
} from '../../../../core/metrics/index.ts';
import type { PredictionData } from '../../../../core/protocol/pages/run-data.ts';
import { formatShare, formatValue, unknownText } from '../../../../core/text/numbers.ts';
import { mostProbable, type Quantity } from '../predict/answers.ts';
import { namesOfClasses } from '../figures/classification-figures.ts';
import { aleatoricStd, epistemicStd, type ValueStack, valueStack } from '../figures/regression-figures.ts';
import type { InputPart } from '../../../../core/ensemble/sample-inputs.ts';

/** Kept predictions as a table with a row for each sample, or for each target of a sample. Legend: `N` rows. */
export interface SampleTable {
  /** N. */
  length: number;
  /** Shape `[N]` each; the larger, the more a sample deserves a look. */
  scores: Record<SampleScore, { title: string; values: Float64Array }>;
  /** The texts of a row, made when it is shown. */
  rowAt: (place: number) => SampleRow;
  /** The sample of a row, by its place in the split. */
  sampleAt: (place: number) => number;
  /** What the ensemble and its members predict for a row: the most probable classes, or the value. */
  quantitiesAt: (place: number) => Quantity[];
  /** Of classes; null for values. */
  classes: ClassesOfRows | null;
}

/** The classes of N rows. */
interface ClassesOfRows {
  /** Names of the K classes. */
  names: string[];
  /** The label of each row, in [0, K). */
  labels: ArrayLike<number>;
  /** The class that the ensemble chooses; -1 where it chooses none. */
  chosen: ArrayLike<number>;
}

export const sampleScores = ['uncertainty', 'error', 'disagreement'] as const;
export type SampleScore = (typeof sampleScores)[number];

export interface SampleRow {
  /** Place in the split, from 0; with several targets `12, height`, without names `12, target 1`. */
  sample: string;
  /** The sample's only feature; null where it has more. */
  feature: number | null;
  /** What the data say. */
  label: string;
  ensemble: Answer;
  /** One for each member. */
  members: Answer[];
}

export interface Answer {
  /** The class, or the value. */
  text: string;
  /** The probability of the class, or the standard deviation of the value; null where there is none. */
  detail: string | null;
  /** Whether another class is the label's. */
  isWrong: boolean;
}

/**
 * The table of the predictions; null for tasks whose samples have several answers (labels, quantiles), or members that
 * hold out others.
 */
export function sampleTable(data: PredictionData): SampleTable | null {
  if (data.areHeldOut || data.task === 'multi-label' || data.task === 'quantile-regression') return null;
  return data.kind === 'values' ? tableOfValues(data) : tableOfClasses(data);
}

/**
 * Places by descending value, ties in their order. NaN comes first: a sample that cannot be judged deserves a look
 * most.
 */
export function placesBy(values: Float64Array): Int32Array {
  const sizes = values.map((value) => (Number.isNaN(value) ? Infinity : value));
  return Int32Array.from(values.keys()).sort((left, right) => {
    if (sizes[left] === sizes[right]) return left - right;
    return sizes[left] > sizes[right] ? -1 : 1;
  });
}

/** Stands for the class of a sample whose probabilities are NaN. */
const none = -1;

/** Uncertainty is the entropy, the error the NLL of the label, and disagreement the mutual information, in nats. */
function tableOfClasses(data: PredictionData): SampleTable {
  const { ranks, samples, width, outputs, targets, feature } = data;
  const kind = data.kind === 'logits' ? 'logits' : 'probabilities';
  const stack = stackedClasses({ kind, members: ranks.length, samples, width, values: outputs[0] });
  const ensemble = answeredProbabilities(stack, data.combination);
  const members = ranks.map((_, member) => memberProbabilities(stack, member));
  const { classes } = stack;
  const names = namesOfClasses(data, classes);
  const nameOf = (label: number) => names[label];
  const answerers = [ensemble, ...members].map((probabilities) => classAnswers(probabilities, targets, nameOf));
  const nlls = Float64Array.from(
    { length: samples },
    (_, n) => 0 - Math.log(ensemble.values[n * classes + targets[n]]),
  );
  return {
    length: samples,
    scores: {
      uncertainty: { title: 'Entropy', values: entropy(ensemble) },
      error: { title: 'NLL', values: nlls },
      disagreement: { title: 'Mutual information', values: mutualInformation(stack) },
    },
    sampleAt: (place) => sampleOf(data, place),
    quantitiesAt: (place) => mostProbable(probabilitiesOf(data, { ensemble, members }, nameOf, place)),
    classes: {
      names,
      labels: targets,
      chosen: mostProbableClass(ensemble).map((own, n) => (Number.isNaN(ensemble.values[n * classes]) ? none : own)),
    },
    rowAt: (place) => ({
      sample: placeInSplit(data, place),
      feature: feature?.length === samples ? feature[place] : null,
      label: nameOf(targets[place]),
      ensemble: answerers[0](place),
      members: answerers.slice(1).map((answer) => answer(place)),
    }),
  };
}

function probabilitiesOf(
  { ranks }: PredictionData,
  { ensemble, members }: { ensemble: Probabilities; members: readonly Probabilities[] },
  nameOf: (label: number) => string,
  place: number,
): Quantity[] {
  return Array.from({ length: ensemble.classes }, (_, label) => {
    const index = place * ensemble.classes + label;
    return {
      name: nameOf(label),
      isProbability: true,
      ensemble: ensemble.values[index],
      members: members.map(({ values }, member) => ({ rank: ranks[member], value: values[index] })),
    };
  });
}

function classAnswers(
  probabilities: Probabilities,
  targets: ArrayLike<number>,
  nameOf: (label: number) => string,
): (place: number) => Answer {
  const chosen = mostProbableClass(probabilities);
  return (place) => {
    const probability = probabilities.values[place * probabilities.classes + chosen[place]];
    // No class is the most probable one.
    if (!Number.isFinite(probability)) return { text: unknownText, detail: 'NaN', isWrong: true };
    const detail = formatShare(probability);
    return { text: nameOf(chosen[place]), detail, isWrong: chosen[place] !== targets[place] };
  };
}

/** Uncertainty is the total standard deviation, disagreement that between the members, and the error is absolute. */
function tableOfValues(data: PredictionData): SampleTable {
  const stack = valueStack(data);
  const { means, variances, targets } = stack;
  const { samples, feature, ranks } = data;
  const mean = answeredValues(means, data.combination);
  const isCount = data.task === 'poisson-regression';
  const spread = epistemicStd(stack);
  // The variance of a count is the ensemble's rate.
  const total = totalStd(stack, isCount ? mean.map(Math.sqrt) : aleatoricStd(stack), spread);
  const perSample = targets.length / samples;
  const memberAnswer = (member: number, place: number): Answer => {
    const index = member * targets.length + place;
    const deviation = variances === null ? null : Math.sqrt(variances.values[index]);
    return valueAnswer(means.values[index], deviation);
  };
  const hasDeviation = ranks.length > 1 || variances !== null || isCount;
  const quantityAt = (place: number): Quantity => ({
    name: targetOf(data, place, perSample) ?? 'value',
    isProbability: false,
    ensemble: mean[place],
    members: ranks.map((rank, member) => ({ rank, value: means.values[member * targets.length + place] })),
  });
  return {
    length: targets.length,
    scores: {
      uncertainty: { title: 'Standard deviation', values: total },
      error: { title: 'Absolute error', values: mean.map((value, place) => Math.abs(value - targets[place])) },
      disagreement: { title: 'Spread of members', values: spread },
    },
    sampleAt: (place) => sampleOf(data, Math.floor(place / perSample)),
    quantitiesAt: (place) => [quantityAt(place)],
    classes: null,
    rowAt: (place) => ({
      sample: placeInSplit(data, Math.floor(place / perSample), targetOf(data, place, perSample)),
      feature: feature?.length === targets.length ? feature[place] : null,
      label: formatValue(targets[place]),
      ensemble: valueAnswer(mean[place], hasDeviation ? total[place] : null),
      members: ranks.map((_, member) => memberAnswer(member, place)),
    }),
  };
}

/** The target of a row, of `perSample` for each sample; null where there is one. */
function targetOf({ targetNames }: PredictionData, place: number, perSample: number): string | null {
  return perSample === 1 ? null : (targetNames?.[place % perSample] ?? `target ${place % perSample}`);
}

/** A product is one distribution, not a mixture: the members' spread is no part of its deviation. */
function totalStd({ combination }: ValueStack, noise: Float64Array, spread: Float64Array): Float64Array {
  return combination === 'product' ? noise : spread.map((own, place) => Math.hypot(own, noise[place]));
}

function valueAnswer(value: number, deviation: number | null): Answer {
  return {
    text: formatValue(value),
    detail: deviation === null ? null : `± ${formatValue(deviation)}`,
    isWrong: false,
  };
}

/** @param row of the predictions, which are one for each position of a sample */
function sampleOf({ places, positions }: PredictionData, row: number): number {
  return Math.floor((places?.[row] ?? row) / positions);
}

function placeInSplit(data: PredictionData, row: number, target: string | null = null): string {
  const { places, positions } = data;
  const position = positions === 1 ? '' : `, step ${(places?.[row] ?? row) % positions}`;
  return `${sampleOf(data, row)}${position}${target === null ? '' : `, ${target}`}`;
}

/** More members are summarized: a row with an answer of each would be many lines high. */
export const mostListed = 8;

/**
 * What many members predict for a row: how many choose each class, the most frequent first, or the range of their
 * values.
 */
export function summarizeMembers(
  { classes, quantitiesAt }: Pick<SampleTable, 'classes' | 'quantitiesAt'>,
  place: number,
  members: readonly Answer[],
): Answer[] {
  if (classes === null) {
    const values = quantitiesAt(place).flatMap((quantity) => quantity.members.map(({ value }) => value));
    const finite = values.filter(Number.isFinite);
    const broken = values.length - finite.length;
    const range = `${formatValue(Math.min(...finite))} to ${formatValue(Math.max(...finite))}`;
    return [
      ...(finite.length > 0 ? [{ text: range, detail: `${finite.length} members`, isWrong: false }] : []),
      ...(broken > 0 ? [{ text: 'NaN', detail: `${broken} of ${values.length}`, isWrong: true }] : []),
    ];
  }
  return [...Map.groupBy(members, ({ text }) => text).values()]
    .toSorted((a, b) => b.length - a.length)
    .map((same) => ({ text: same[0].text, detail: `${same.length} of ${members.length}`, isWrong: same[0].isWrong }));
}

type Series = Extract<InputPart, { kind: 'series' }>;

/** The lines of a series in a box of `width` by `height`, one for each channel. */
interface SeriesSketch {
  /** SVG paths. Values that are not finite leave a gap. */
  paths: string[];
  /** The smallest and the largest finite value; null where there is none. */
  range: readonly [low: number, high: number] | null;
}

/** Lines that share one vertical scale, the smallest value at the bottom. */
export function sketchSeries({ steps, channels, values }: Series, width: number, height: number): SeriesSketch {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return { paths: [], range: null };
  const low = finite.reduce((least, value) => Math.min(least, value), Infinity);
  const high = finite.reduce((most, value) => Math.max(most, value), -Infinity);
  const x = (step: number) => (steps === 1 ? width / 2 : (step / (steps - 1)) * width);
  const y = (value: number) => (high === low ? height / 2 : height - ((value - low) / (high - low)) * height);
  const pathOf = (channel: number): string => {
    let isDrawing = false;
    const points = Array.from({ length: steps }, (_, step) => {
      const value = values[step * channels + channel];
      if (!Number.isFinite(value)) {
        isDrawing = false;
        return '';
      }
      const command = isDrawing ? 'L' : 'M';
      isDrawing = true;
      return `${command}${x(step).toFixed(2)} ${y(value).toFixed(2)}`;
    });
    return points.join('');
  };
  return { paths: Array.from({ length: channels }, (_, channel) => pathOf(channel)), range: [low, high] };
}
