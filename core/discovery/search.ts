import { z } from 'zod';
import { runConfigSchema } from '../protocol/run/config.ts';
import { realNumber } from '../protocol/wire/numbers.ts';
import { distanceKinds } from './distances.ts';

/** How a search chooses what to label next. */

/** All acquisitions, in the order in which commands and pages list them. */
export const acquisitions = {
  ucb: { label: 'Upper confidence bound', help: 'Mean + κ · deviation of the members.' },
  ei: { label: 'Expected improvement', help: 'By how much a candidate is expected to exceed the best one.' },
  pi: { label: 'Probability of improvement', help: 'How probably a candidate exceeds the best one.' },
  thompson: { label: 'Thompson sampling', help: 'Each choice is what one member, drawn at random, likes best.' },
  greedy: { label: 'Greedy', help: 'The mean alone.' },
  bald: { label: 'BALD', help: 'What a label would say about the members.' },
  entropy: { label: 'Entropy', help: 'What the ensemble knows least.' },
  qpo: { label: 'qPO', help: 'What most members rank first.' },
  random: { label: 'Random', help: 'Prefers nothing, and trains nothing.' },
} as const;
export type AcquisitionKind = keyof typeof acquisitions;
export const acquisitionKinds = Object.keys(acquisitions) as AcquisitionKind[];

/** All kinds of batches, in the same order everywhere. */
export const batches = {
  top: { label: 'The best scores', help: 'Neighbours often have the same score and the same label.' },
  centres: { label: 'Far apart', help: 'Among ten times as many of the best, some that lie far apart.' },
  clusters: { label: 'One of each cluster', help: 'Among ten times as many of the best, the best of each cluster.' },
  fantasies: { label: 'One by one', help: 'Each as if the ones before had their expected value.' },
} as const;
export type BatchKind = keyof typeof batches;
export const batchKinds = Object.keys(batches) as BatchKind[];

export const acquisitionSchema = z.strictObject({
  /** How candidates are scored. */
  kind: z.enum(acquisitionKinds),
  /** How a batch is chosen. */
  batch: z.enum(batchKinds).default('top'),
  /** Weight of the deviation in `ucb` (κ). */
  kappa: z.number().min(0).default(1),
  /** Improvement that `ei` and `pi` ask for beyond the best (ξ). */
  xi: z.number().default(0),
  /** The batches `centres` and `clusters` choose among this many times their size of the best candidates. */
  shortlist: z.int().min(1).default(10),
  /**
   * How far candidates lie apart for these batches: by their coordinates, or by the Tanimoto coefficient, which suits
   * fingerprints.
   */
  distance: z.enum(distanceKinds).default('euclidean'),
});
export type Acquisition = z.output<typeof acquisitionSchema>;

/** Why an acquisition cannot have its kind of batch; null if it can. */
export function whyNoBatch({ kind, batch }: Pick<Acquisition, 'kind' | 'batch'>): string | null {
  if (batch === 'top') return null;
  const hasNoScores = kind === 'random' || kind === 'thompson' || kind === 'qpo';
  if (hasNoScores)
    return `${kind} chooses a whole batch itself. Omit the batch ${batch}, or choose it with ucb, ei, pi or greedy.`;
  if (batch === 'fantasies' && kind !== 'ucb' && kind !== 'ei' && kind !== 'pi') {
    return (
      `Fantasies change only the deviation of candidates, which ${kind} does not use. Choose ucb, ei or pi, or ` +
      'another batch.'
    );
  }
  return null;
}

/**
 * What a search looks for: candidates of a class, or with large or small values. A hit is a candidate of the class, or
 * one whose value reaches the threshold.
 */
const goalSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('class'), label: z.int().min(0) }),
  z.strictObject({ kind: z.literal('maximize'), threshold: z.number().nullable() }),
  z.strictObject({ kind: z.literal('minimize'), threshold: z.number().nullable() }),
]);
export type SearchGoal = z.output<typeof goalSchema>;

/**
 * Who knows the labels: the pool's own targets, which stay hidden until they are asked for; a program; or a person, who
 * gets and returns a CSV file.
 */
const oracleSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('hidden') }),
  z.strictObject({ kind: z.literal('command'), command: z.string().min(1) }),
  z.strictObject({ kind: z.literal('person') }),
]);
export type Oracle = z.output<typeof oracleSchema>;

/** `discovery.json`: everything that decides a search. It is written once. */
export const searchSchema = z.strictObject({
  format: z.literal(1),
  id: z.string().regex(/^\w[\w-]{0,199}$/),
  name: z.string(),
  createdAt: z.iso.datetime(),
  project: z.strictObject({ name: z.string(), folder: z.string() }),
  /** SHA-256 of the project's source as the search began; null: unknown. */
  sourceHash: z.string().nullable(),
  task: z.string(),
  /** The configuration of each round's run, except its seed and its warm start. */
  config: runConfigSchema,
  goal: goalSchema,
  oracle: oracleSchema,
  acquisition: acquisitionSchema,
  /** Acquisitions that search beside it from the same start, to compare with. */
  beside: z.array(z.enum(acquisitionKinds)),
  /**
   * Candidates labelled before the first round, whether as many of each class as in the pool, and how many each round
   * labels.
   */
  start: z.int().min(1),
  isStartStratified: z.boolean(),
  perRound: z.int().min(1),
  rounds: z.int().min(1),
  /** Whether the loss weighs classes so that all labelled classes count the same. */
  hasClassWeights: z.boolean(),
  /** Whether each round trains on from the weights of the round before. */
  isWarm: z.boolean(),
  seed: z.int().min(0).max(0xffffffff),
});
export type Search = z.output<typeof searchSchema>;

const index = z.int().min(0);
const time = z.iso.datetime();

/** What an arm chose in a round, from 1, with the score and the prediction of each; NaN and null where it has none. */
export const choiceSchema = z.strictObject({
  type: z.literal('choice'),
  arm: z.string(),
  round: z.int().min(1),
  indices: z.array(index),
  scores: z.array(realNumber),
  means: z.array(realNumber),
  deviations: z.array(realNumber),
  /** Variance that is predicted of each label around its expectation; lines of older searches have none. */
  noises: z.array(realNumber).default([]),
  /** Metrics of the round's ensemble on the test split, by name; empty without one. */
  metrics: z.record(z.string(), realNumber),
  /** Time to train, and to predict and choose. */
  seconds: z.strictObject({ train: z.number(), choose: z.number() }),
  time,
});
export type ArmChoice = z.output<typeof choiceSchema>;

/** A line of `rounds.jsonl`. Lines are added and never changed. */
export const searchLineSchema = z.discriminatedUnion('type', [
  /** The candidates with which all arms begin. */
  z.strictObject({ type: z.literal('start'), indices: z.array(index), time }),
  choiceSchema,
  /** Labels that the oracle gave. */
  z.strictObject({ type: z.literal('labels'), indices: z.array(index), values: z.array(realNumber), time }),
]);
export type SearchLine = z.output<typeof searchLineSchema>;

/** The arms of a search: the chosen acquisition first, then those beside it. */
export function armsOf({ acquisition, beside }: Pick<Search, 'acquisition' | 'beside'>): string[] {
  return [acquisition.kind, ...beside.filter((kind) => kind !== acquisition.kind)];
}
