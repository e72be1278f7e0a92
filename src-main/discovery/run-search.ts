import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { acquire } from '../../core/discovery/acquire.ts';
import type { Belief } from '../../core/discovery/belief.ts';
import {
  bestLabel,
  chosenBy,
  hitsOf,
  progressOf,
  type SearchProgress,
  unlabelled,
} from '../../core/discovery/progress.ts';
import {
  type Acquisition,
  type AcquisitionKind,
  type ArmChoice,
  armsOf,
  type Search,
  type SearchLine,
} from '../../core/discovery/search.ts';
import { drawStart, drawStratifiedStart, nextStep, roundName, type SearchStep } from '../../core/discovery/steps.ts';
import { writeFileAsOnlyWriter } from '../../core/node/atomic-file.ts';
import { Generator } from '../../core/random/generator.ts';
import { encodeSafetensors } from '../../core/safetensors/safetensors.ts';
import { CampaignDriver, type CampaignPolicy, type Choice } from '../campaigns/driver.ts';
import type { CampaignWork } from '../campaigns/work.ts';
import { type AskOracle, oracleOf } from './oracles.ts';
import { predictedIn, writeQuestion } from './person.ts';
import type { OpenedPool } from './pool.ts';
import { appendLine, searchPaths } from './search-folder.ts';
import type { RoundPlace, TrainedRound } from './train-round.ts';

/** What a search reports while it runs. */
export type SearchUpdate =
  | { type: 'labelled'; labels: number }
  | { type: 'chosen'; choice: ArmChoice; labels: number; hits: number }
  | { type: 'waiting'; question: string; count: number };

export interface SearchParts {
  folder: string;
  search: Search;
  opened: OpenedPool;
  /** What happened before. */
  lines: readonly SearchLine[];
  /** Trains a round on labels by candidate, in the order in which they came, unless the signal ends it. */
  train: (place: RoundPlace, labels: ReadonlyMap<number, number>, signal: AbortSignal) => Promise<TrainedRound>;
  /** Removes what a round trained. */
  forget: (place: RoundPlace) => Promise<void>;
  tell: (update: SearchUpdate) => void;
}

/** How a search ended: all its rounds are done, or a person has to give labels first. */
export type SearchEnd = { kind: 'finished' } | { kind: 'waiting'; question: string };

/**
 * Carries out a search, or what is left of it: each arm trains on its labels, predicts the pool, chooses a batch and
 * has it labelled, round by round. Every choice and every answer is on the disk before the next step, and each choice
 * is a function of the search, its round and the labels. So a search that was killed at any moment continues with the
 * same choices.
 */
export class SearchSession implements CampaignPolicy<CampaignWork> {
  readonly places = 1;
  readonly mostFailures = Infinity;
  readonly #parts: SearchParts;
  readonly #driver = new CampaignDriver<CampaignWork>(this);
  readonly #aborting = new AbortController();
  readonly #lines: SearchLine[];
  readonly #ask: AskOracle;
  /** Files with what a person must label first, by the names of what they ask for. */
  readonly #questions = new Map<string, string>();
  /** The first round of all arms, which train on the same labels. */
  #first: TrainedRound | null = null;

  constructor(parts: SearchParts) {
    this.#parts = parts;
    this.#lines = [...parts.lines];
    this.#ask = oracleOf(parts.search, parts.opened, this.#aborting.signal);
  }

  /** How far the search is. */
  get progress(): SearchProgress {
    return progressOf(this.#parts.search, this.#lines);
  }

  /** Ends the step that goes on at once. It is done again when the search continues. */
  abort(): void {
    this.#driver.abort();
  }

  /** @returns null if it was aborted @throws Error if a run or the oracle fails */
  async run(): Promise<SearchEnd | null> {
    if ((await this.#driver.run()) === 'stopped') return null;
    const [question] = this.#questions.values();
    return question === undefined ? { kind: 'finished' } : { kind: 'waiting', question };
  }

  async choose(): Promise<Choice<CampaignWork>> {
    const { search, opened } = this.#parts;
    const place = { candidates: opened.pool.samples, asked: this.#questions };
    const step = nextStep(search, this.progress, place);
    return step === null ? { kind: 'done' } : { kind: 'begin', works: [this.#workOf(step)] };
  }

  #workOf(step: SearchStep): CampaignWork {
    const abort = (): void => this.#aborting.abort();
    const finish = async () => {
      try {
        await this.#carryOut(step);
        return 'done';
      } catch (error) {
        if (this.#aborting.signal.aborted) return 'left';
        throw error;
      }
    };
    return { finish, stop: abort, abort };
  }

  #carryOut(step: SearchStep): Promise<unknown> {
    switch (step.kind) {
      case 'start':
        return this.#begin();
      case 'label':
        return this.#label(step.name, step.indices, step.choice);
      case 'round':
        return this.#roundOf(step.arm, step.round);
    }
  }

  /** Adds labels that a person gave. @returns how many are new */
  async addLabels(found: ReadonlyMap<number, number>): Promise<number> {
    const indices = unlabelled(this.progress, [...found.keys()]);
    if (indices.length > 0)
      await this.#write({
        type: 'labels',
        indices,
        values: indices.map((index) => found.get(index) ?? NaN),
        time: now(),
      });
    return indices.length;
  }

  async #begin(): Promise<void> {
    const { search, opened } = this.#parts;
    const generator = new Generator(search.seed, 'discovery start');
    const { samples } = opened.pool;
    if (search.start + search.perRound > samples) {
      throw new Error(
        `A start of ${search.start} and ${search.perRound} a round need more than the ${samples} candidates of ` +
          'the pool. Begin with fewer.',
      );
    }
    const indices = search.isStartStratified
      ? drawStratifiedStart(opened.targets, search.start, generator)
      : drawStart(samples, search.start, generator);
    await this.#write({ type: 'start', indices: [...indices], time: now() });
  }

  /** One round of an arm: it chooses, and has its choice labelled. */
  async #roundOf(arm: string, round: number): Promise<void> {
    const choice = await this.#choose(arm, round);
    await this.#write(choice);
    const isLabelled = await this.#label(roundName(arm, round), choice.indices, choice);
    const { search, forget } = this.#parts;
    // The next warm start needs this round's run, and no run before. All arms have the first one in common.
    if (round > 2) await forget({ arm, round: round - 1 });
    const labels = chosenBy(this.progress, arm).length;
    if (isLabelled)
      this.#parts.tell({ type: 'chosen', choice, labels, hits: hitsOf(search, this.progress, arm).at(-1) ?? 0 });
  }

  async #choose(arm: string, round: number): Promise<ArmChoice> {
    const { search, opened } = this.#parts;
    this.#aborting.signal.throwIfAborted();
    const chosen = chosenBy(this.progress, arm);
    const taken = new Set(chosen);
    const open = Int32Array.from({ length: opened.pool.samples }, (_, i) => i).filter(
      (candidate) => !taken.has(candidate),
    );
    const startMs = performance.now();
    const trained = arm === 'random' ? null : await this.#train(arm, round, chosen);
    const trainedMs = performance.now();
    const labels = chosen.map((index) => this.progress.labels.get(index) ?? NaN);
    const belief = trained?.belief ?? beliefWithoutTraining(opened.pool.samples);
    const { indices, scores } = acquire(this.#acquisitionOf(arm), {
      belief,
      open,
      count: search.perRound,
      bestLabel: bestLabel(search.goal, labels),
      features: opened.features,
      generator: new Generator(search.seed, `discovery ${arm} ${round}`),
    });
    return {
      type: 'choice',
      arm,
      round,
      indices: [...indices],
      scores: [...scores],
      means: Array.from(indices, (candidate) => belief.mean[candidate]),
      deviations: Array.from(indices, (candidate) => belief.deviation[candidate]),
      noises: Array.from(indices, (candidate) => belief.noise[candidate]),
      metrics: trained?.metrics ?? {},
      seconds: { train: (trainedMs - startMs) / 1000, choose: (performance.now() - trainedMs) / 1000 },
      time: now(),
    };
  }

  async #train(arm: string, round: number, chosen: readonly number[]): Promise<TrainedRound> {
    const { search, folder, train } = this.#parts;
    if (round === 1 && this.#first !== null) return this.#first;
    const { labels } = this.progress;
    const own = new Map(chosen.map((index) => [index, labels.get(index) ?? NaN]));
    const trained = await train({ arm, round }, own, this.#aborting.signal);
    if (round === 1) this.#first = trained;
    if (arm === armsOf(search)[0]) await keepBelief(folder, round, trained.belief);
    return trained;
  }

  /** An arm beside the chosen one has plain batches: its own name says all. */
  #acquisitionOf(arm: string): Acquisition {
    const { acquisition } = this.#parts.search;
    return arm === acquisition.kind ? acquisition : { ...acquisition, kind: arm as AcquisitionKind, batch: 'top' };
  }

  /** Has candidates labelled. @returns false where a person is asked, and the labels come later */
  async #label(name: string, indices: readonly number[], choice: ArmChoice | null): Promise<boolean> {
    const asked = unlabelled(this.progress, indices);
    if (asked.length === 0) return true;
    const values = await this.#ask(asked);
    if (values !== null) {
      await this.#write({ type: 'labels', indices: asked, values, time: now() });
      if (choice === null) this.#parts.tell({ type: 'labelled', labels: asked.length });
      return true;
    }
    const { folder, opened, tell } = this.#parts;
    const predicted = choice === null ? null : predictedIn(choice, this.#parts.search.goal);
    const question = await writeQuestion(folder, name, opened.pool, { indices: asked, predicted });
    this.#questions.set(name, question);
    tell({ type: 'waiting', question, count: asked.length });
    return false;
  }

  async #write(line: SearchLine): Promise<void> {
    await appendLine(this.#parts.folder, line);
    this.#lines.push(line);
  }
}

/** Random choices need no ensemble. */
function beliefWithoutTraining(candidates: number): Belief {
  const unknown = new Float64Array(candidates).fill(NaN);
  return {
    members: 0,
    candidates,
    values: new Float64Array(0),
    mean: unknown,
    deviation: unknown,
    noise: unknown,
    uncertainty: unknown,
    information: unknown,
  };
}

/** Keeps the mean and the deviation of all candidates, for pages. */
async function keepBelief(folder: string, round: number, { mean, deviation, candidates }: Belief): Promise<void> {
  const path = join(searchPaths(folder).beliefs, `${round}.safetensors`);
  if (existsSync(path)) return;
  const shape = [candidates];
  const tensors = [
    { name: 'mean', dtype: 'F32' as const, shape, data: Float32Array.from(mean) },
    { name: 'deviation', dtype: 'F32' as const, shape, data: Float32Array.from(deviation) },
  ];
  await writeFileAsOnlyWriter(path, encodeSafetensors(tensors, { round: String(round) }));
}

function now(): string {
  return new Date().toISOString();
}
