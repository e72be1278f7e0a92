import { readOwnBytes } from '../../core/node/own-files.ts';
import { basename, dirname, join } from 'node:path';
import { unlessMissing } from '../../core/node/file-error.ts';
import type { CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import { decodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { type Checkpoint, readCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { readTopology } from '../checkpoints/layers-model.ts';
import type { Dataset } from '../data/dataset.ts';
import { predict } from '../member/predict.ts';
import type { Predictions } from '../member/predictions.ts';
import { RunFiles, type Split } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import { writeWeights } from '../member/weights.ts';
import { RunModels } from '../project/rebuild-model.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import { describeDifference, unregisteredClasses } from '../tensorflow/topology.ts';
import { countInnerMembers } from './unrolled-topology.ts';

/** A model of the new ensemble. */
export interface Draft {
  /** Positions of the candidates that it was made from. */
  parts: readonly number[];
  topology: string;
  tensors: NamedTensor[];
}

/** The checkpoints to choose from, and their predictions. */
export class Candidates {
  readonly #task: CombineTask;
  readonly #models: RunModels[];
  readonly #records: Checkpoint['record'][] = [];
  /** The model that was used last, because memory may not hold all. */
  #last: { key: string; model: LayersModel } | null = null;

  constructor(task: CombineTask) {
    this.#task = task;
    this.#models = task.runs.map((source) => new RunModels(source));
  }

  get count(): number {
    return this.#task.candidates.length;
  }

  get warnings(): string[] {
    return [...new Set(this.#models.flatMap(({ warnings }) => warnings))];
  }

  /** Task and data of the first run's project. */
  project(): ReturnType<RunModels['project']> {
    return this.#models[0].project();
  }

  /** The name of a candidate for messages. */
  nameOf(candidate: number): string {
    const { run, rank, name } = this.#task.candidates[candidate];
    return `checkpoint "${name}" of rank ${rank} of the run ${this.#task.runs[run].id}`;
  }

  /** When a candidate was saved, and by what it was chosen. */
  async record(candidate: number): Promise<Checkpoint['record']> {
    return (this.#records[candidate] ??= (await this.read(candidate)).record);
  }

  read(candidate: number): Promise<Checkpoint> {
    const { run, rank, name } = this.#task.candidates[candidate];
    return readCheckpoint(this.#task.runs[run].runFolder, rank, name);
  }

  /** @throws Error where the run did not save it */
  async topology(candidate: number): Promise<string> {
    const { run, rank } = this.#task.candidates[candidate];
    const { model } = await this.record(candidate);
    if (model !== undefined) return readTopology(this.#task.runs[run].runFolder, rank, model);
    throw new Error(
      `The run did not save the architecture of ${this.nameOf(candidate)}: it was trained by an earlier ` +
        'version. Leave it out.',
    );
  }

  /** Candidates of the same member, in order of time. */
  get trajectories(): number[][] {
    const found = new Map<string, number[]>();
    for (const [candidate, { run, rank }] of this.#task.candidates.entries()) {
      const key = `${run} ${rank}`;
      found.set(key, [...(found.get(key) ?? []), candidate]);
    }
    return [...found.values()];
  }

  /** Of each candidate the number of inner members. @throws Error where a model has none */
  async innerMembers(): Promise<number[]> {
    const counts: number[] = [];
    for (let candidate = 0; candidate < this.count; candidate++) {
      counts.push(countInnerMembers(await this.topology(candidate), this.nameOf(candidate)));
    }
    return counts;
  }

  /** The configuration of a candidate's run. */
  configOf(candidate: number): CombineTask['runs'][number]['config'] {
    return this.#task.runs[this.#task.candidates[candidate].run].config;
  }

  /** What a candidate predicts for a split: as its run kept it, or computed now. */
  async predictions(candidate: number, split: Split, dataset: Dataset, task: Task): Promise<Predictions> {
    const kept = await this.#kept(candidate, split);
    const isUsable = kept?.kind === task.predicts && kept.samples % dataset.length === 0;
    return isUsable ? kept : this.predict(await this.meanOf([candidate]), dataset, task);
  }

  async predict(draft: Draft, dataset: Dataset, task: Task): Promise<Predictions> {
    const model = await this.modelOf(draft);
    task.check(model, dataset);
    return predict(model, task, dataset);
  }

  /** The model of a draft, until the next one is asked for. */
  async modelOf({ parts, topology, tensors }: Draft): Promise<LayersModel> {
    const { run, rank } = this.#task.candidates[parts[0]];
    const key = `${run} ${rank} ${topology}`;
    if (this.#last?.key !== key) {
      this.#last?.model.dispose();
      this.#last = null;
      this.#last = { key, model: await this.#models[run].build(rank, topology, this.nameOf(parts[0])) };
    }
    writeWeights(this.#last.model, tensors, this.nameOf(parts[0]));
    return this.#last.model;
  }

  /**
   * @throws Error where the model of a candidate can only be built as it is, with layers of the project that no other
   * code knows
   */
  async requireRegistered(candidate: number, topology: string): Promise<void> {
    if (unregisteredClasses(topology).length === 0) return;
    await this.#models[this.#task.candidates[candidate].run].code();
    const unknown = unregisteredClasses(topology);
    if (unknown.length === 0) return;
    throw new Error(
      `The model of ${this.nameOf(candidate)} has layers that its project does not register ` +
        `(${unknown.join(', ')}), so it cannot be built with other layers. Register each in project.ts, with ` +
        'tf.serialization.registerClass(TheClass), and train again.',
    );
  }

  /**
   * The model with the mean of candidates' weights; of one the candidate itself.
   * @throws Error where architectures differ
   */
  async meanOf(candidates: readonly number[]): Promise<Draft> {
    const weights: NamedTensor[][] = [];
    const topology = await this.topology(candidates[0]);
    for (const candidate of candidates) weights.push(await this.weightsLike(topology, candidate, candidates[0]));
    const tensors = weights.length === 1 ? weights[0] : averageWeights(weights);
    return { parts: candidates, topology, tensors };
  }

  /** A candidate's weights. @throws Error where its architecture differs from that of another one */
  async weightsLike(topology: string, candidate: number, other: number): Promise<NamedTensor[]> {
    const difference = architectureDifference(topology, await this.topology(candidate));
    if (difference === null) return (await this.read(candidate)).tensors;
    throw new Error(
      `Weights can be averaged only in the same architecture, but in ${this.nameOf(candidate)} ${difference} in ` +
        `${this.nameOf(other)}. Leave out one of the two runs, or use --method greedy.`,
    );
  }

  /** @throws Error with the run whose validation split has other targets */
  async requireSameTargets(validation: Dataset): Promise<void> {
    for (const { runFolder, id } of this.#task.runs) {
      const path = join(runFolder, 'predictions', 'validation', 'targets.safetensors');
      const content = await unlessMissing(readOwnBytes(dirname(path), basename(path)));
      if (content === null) {
        throw new Error(
          `The run ${id} kept no targets of its validation split (${path}), so whether its members fit together ` +
            'with others is not known. Leave it out.',
        );
      }
      const targets = decodeSafetensors(content).tensors.find(({ name }) => name === 'targets')?.data;
      const own = validation.targets;
      if (targets?.length === own.length && own.every((value, i) => value === targets[i])) continue;
      throw new Error(
        `The validation split of the run ${id} has ${targets?.length ?? 0} targets, which differ from the ` +
          `${own.length} that the project of the run ${this.#task.runs[0].id} gives now. Members of one ensemble ` +
          'need the same data: leave out one of the two runs, or train with the same data and the same seed of the ' +
          'split.',
      );
    }
  }

  /** A run keeps predictions of the ensemble's best evaluation as `best`. */
  async #kept(candidate: number, split: Split) {
    const { run, rank, name } = this.#task.candidates[candidate];
    const { epoch } = await this.record(candidate);
    const files = new RunFiles(this.#task.runs[run].runFolder, rank);
    const names = name === 'ensemble-best' && split === 'validation' ? [name, 'best'] : [name];
    for (const kept of names) {
      const found = await files.readPredictions(split, rank, kept);
      if (found?.epoch === epoch) return found;
    }
    return null;
  }
}

/**
 * The mean of weights by name. Batch normalization's running statistics are averaged too, and computed again for
 * members (`meanDraft`).
 *
 * Source: Wortsman et al., "Model soups: averaging weights of multiple fine-tuned models improves accuracy without
 * increasing inference time", ICML 2022.
 *
 * @param models weights of models of the same architecture, float32
 */
export function averageWeights(models: readonly (readonly NamedTensor[])[]): NamedTensor[] {
  const byName = models.map((tensors) => new Map(tensors.map((tensor) => [tensor.name, tensor.data])));
  return models[0].map(({ name, shape, data }) => {
    const sum = new Float64Array(data.length);
    for (const tensors of byName) {
      const own = tensors.get(name) as Float32Array;
      for (let i = 0; i < sum.length; i++) sum[i] += own[i];
    }
    return { name, dtype: 'F32', shape: [...shape], data: Float32Array.from(sum, (value) => value / models.length) };
  });
}

/**
 * How two architectures differ in what their weights mean: initial values and seeds do not count.
 * @returns null if in nothing
 */
export function architectureDifference(one: string, other: string): string | null {
  return describeDifference(withoutStart(one), withoutStart(other));
}

function withoutStart(topology: string): string {
  return JSON.stringify(JSON.parse(topology, (key, value: unknown) => (isOfStart(key) ? undefined : value)));
}

const isOfStart = (key: string): boolean => key === 'seed' || key.endsWith('_initializer');
