import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../core/node/file-error.ts';
import type { CombineTask } from '../../core/protocol/run/checkpoint-tasks.ts';
import { decodeSafetensors, type NamedTensor } from '../../core/safetensors/safetensors.ts';
import { type Checkpoint, readCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { readTopology } from '../checkpoints/model-topology.ts';
import type { Dataset } from '../data/dataset.ts';
import { predict } from '../member/predict.ts';
import type { Predictions } from '../member/predictions.ts';
import { RunFiles, type Split } from '../member/run-files.ts';
import type { Task } from '../member/tasks.ts';
import { writeWeights } from '../member/weights.ts';
import { RunModels } from '../project/rebuild-model.ts';
import { architectureDifference, averageWeights } from './average-weights.ts';

/** The checkpoints to choose from, and their predictions. */
export class Candidates {
  readonly #task: CombineTask;
  readonly #models: RunModels[];

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

  read(candidate: number): Promise<Checkpoint> {
    const { run, rank, name } = this.#task.candidates[candidate];
    return readCheckpoint(this.#task.runs[run].runFolder, rank, name);
  }

  /** @throws Error where the run did not save it */
  async topology(candidate: number): Promise<string> {
    const { run, rank } = this.#task.candidates[candidate];
    const { model } = (await this.read(candidate)).record;
    if (model !== undefined) return readTopology(this.#task.runs[run].runFolder, rank, model);
    throw new Error(
      `The run did not save the architecture of ${this.nameOf(candidate)}: it was trained by an earlier version. Leave it out.`,
    );
  }

  /** What a candidate predicts for a split: as its run kept it, or computed now. */
  async predictions(candidate: number, split: Split, dataset: Dataset, task: Task): Promise<Predictions> {
    const kept = await this.#kept(candidate, split);
    const isUsable = kept?.kind === task.predicts && kept.samples % dataset.length === 0;
    return isUsable ? kept : this.predictionsOfMean([candidate], dataset, task);
  }

  /** What the model with the mean of some candidates' weights predicts. */
  async predictionsOfMean(candidates: readonly number[], dataset: Dataset, task: Task): Promise<Predictions> {
    const { run, rank, name } = this.#task.candidates[candidates[0]];
    const model = await this.#models[run].withWeights(rank, name);
    if (candidates.length > 1) writeWeights(model, await this.meanWeights(candidates), this.nameOf(candidates[0]));
    task.check(model, dataset);
    return predict(model, task, dataset);
  }

  /** The mean of candidates' weights; of one its own. @throws Error where architectures differ */
  async meanWeights(candidates: readonly number[]): Promise<NamedTensor[]> {
    const weights: NamedTensor[][] = [];
    const expected = await this.topology(candidates[0]);
    for (const candidate of candidates) {
      const difference = architectureDifference(expected, await this.topology(candidate));
      if (difference !== null) {
        throw new Error(
          `Weights can be averaged only in the same architecture, but in ${this.nameOf(candidate)} ${difference} in ${this.nameOf(candidates[0])}. ` +
            'Leave out one of the two runs, or use --method greedy.',
        );
      }
      weights.push((await this.read(candidate)).tensors);
    }
    return weights.length === 1 ? weights[0] : averageWeights(weights);
  }

  /** @throws Error with the run whose validation split has other targets */
  async requireSameTargets(validation: Dataset): Promise<void> {
    for (const { runFolder, id } of this.#task.runs) {
      const path = join(runFolder, 'predictions', 'validation', 'targets.safetensors');
      const content = await unlessMissing(readFile(path));
      if (content === null) {
        throw new Error(
          `The run ${id} kept no targets of its validation split (${path}), so whether its members fit together with others is not known. ` +
            'Leave it out.',
        );
      }
      const targets = decodeSafetensors(content).tensors.find(({ name }) => name === 'targets')?.data;
      const own = validation.targets;
      if (targets?.length === own.length && own.every((value, i) => value === targets[i])) continue;
      throw new Error(
        `The validation split of the run ${id} has ${targets?.length ?? 0} targets, which differ from the ${own.length} that the project of the run ` +
          `${this.#task.runs[0].id} gives now. Members of one ensemble need the same data: leave out one of the two runs, or train with the same ` +
          'data and the same seed of the split.',
      );
    }
  }

  /** A run keeps predictions of the ensemble's best evaluation as `best`. */
  async #kept(candidate: number, split: Split) {
    const { run, rank, name } = this.#task.candidates[candidate];
    const { epoch } = (await this.read(candidate)).record;
    const files = new RunFiles(this.#task.runs[run].runFolder, rank);
    const names = name === 'ensemble-best' && split === 'validation' ? [name, 'best'] : [name];
    for (const kept of names) {
      const found = await files.readPredictions(split, rank, kept);
      if (found?.epoch === epoch) return found;
    }
    return null;
  }
}
