import type { RunSource } from '../../core/protocol/run/checkpoint-tasks.ts';
import { MadeOnce } from '../../core/text/made-once.ts';
import { type Checkpoint, readCheckpoint } from '../checkpoints/checkpoint-store.ts';
import { readTopology } from '../checkpoints/layers-model.ts';
import type { Splits } from '../data/dataset.ts';
import { ensembleTask } from '../strategies/strategy.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import {
  describeDifference,
  isSelfContained,
  modelFromTopology,
  topologyOf,
  unregisteredClasses,
} from '../tensorflow/topology.ts';
import { type Task, taskFor } from '../member/tasks.ts';
import { writeWeights } from '../member/weights.ts';
import type { Project } from './define-project.ts';
import { loadProject, loadProjectData, modelShapes, parseHyperparameters } from './load-project.ts';

/** A project's code without its data. */
interface LoadedSource {
  project: Project;
  hyperparameters: Record<string, unknown>;
}

interface LoadedProject extends LoadedSource {
  task: Task;
  data: Splits;
}

/**
 * Rebuilds the models of a run's checkpoints, each with the architecture that the run saved for it, which may differ
 * between ranks and attempts. Uses the project's current source only for what the run did not save. Requires a started
 * backend.
 */
export class RunModels {
  /** Possible differences from the run's training. */
  readonly warnings: string[] = [];
  readonly #source: RunSource;
  readonly #models = new Map<string, MadeOnce<LayersModel>>();
  readonly #project = new MadeOnce<LoadedProject>();
  readonly #code = new MadeOnce<LoadedSource>();

  constructor(source: RunSource) {
    this.#source = source;
  }

  /** The project's current data and the run's task, loaded on first use. */
  async project(): Promise<LoadedProject> {
    return this.#project.get(() => this.#load());
  }

  /** The project's code, loaded on first use, without its data. @throws Error where the project is not trusted */
  async code(): Promise<LoadedSource> {
    return this.#code.get(() => this.#loadCode());
  }

  /**
   * A new model of an architecture that the run saved. The project's code is loaded only for layer classes that it
   * defines.
   */
  async build(rank: number, topology: string, subject: string): Promise<LayersModel> {
    if (isSelfContained(topology)) return modelFromTopology(topology, subject);
    await this.code();
    // A project that registers its classes needs no data to build its models.
    if (unregisteredClasses(topology).length === 0) return modelFromTopology(topology, subject);
    return this.#modelWithOwnLayers(rank, topology, subject);
  }

  /**
   * The model of a checkpoint, with its weights. Checkpoints of the same architecture share one model.
   * @throws when the weights do not fit
   */
  async withWeights(rank: number, name: string): Promise<LayersModel> {
    const { record, tensors } = await readCheckpoint(this.#source.runFolder, rank, name);
    const key = record.model ?? `rank ${rank}`;
    const kept = this.#models.get(key) ?? new MadeOnce<LayersModel>();
    this.#models.set(key, kept);
    const model = await kept.get(() => this.#build(record));
    writeWeights(model, tensors, `Checkpoint "${name}" of rank ${rank}`);
    return model;
  }

  async #build({ rank, name, model: kept }: Checkpoint['record']): Promise<LayersModel> {
    const subject = `checkpoint "${name}" of rank ${rank}`;
    if (kept === undefined) {
      this.#warn(`The run did not save the model of ${subject}. It is built from the project's current source.`);
      return this.#modelOfProject(rank);
    }
    const topology = await readTopology(this.#source.runFolder, rank, kept);
    return this.build(rank, topology, subject);
  }

  /**
   * Only the project's source defines its custom layers.
   * @throws when the source builds a different model from the run's
   */
  async #modelWithOwnLayers(rank: number, topology: string, subject: string): Promise<LayersModel> {
    const model = await this.#modelOfProject(rank);
    const difference = describeDifference(topology, topologyOf(model));
    if (difference === null) return model;
    throw new Error(
      `The project in ${this.#source.projectFolder} no longer builds the model of ${subject}: ${difference}. The ` +
        'model has custom layers of the project, so it needs the source that the run was trained with. Restore that.',
    );
  }

  async #modelOfProject(rank: number): Promise<LayersModel> {
    const { config } = this.#source;
    const { project, hyperparameters, task, data } = await this.project();
    const targetSize = task.targetSize(data.train);
    return project.model({ hyperparameters, config, ...modelShapes(data.train), targetSize, rank });
  }

  async #loadCode(): Promise<LoadedSource> {
    const { config, projectFolder, projectRefusal, task: kind, sourceChange, sourceFolder } = this.#source;
    if (projectRefusal !== null) throw new Error(projectRefusal);
    if (sourceChange !== null) this.#warn(sourceChange);
    const project = await loadProject(projectFolder, sourceFolder);
    if (project.task !== kind) {
      throw new Error(
        `The project in ${projectFolder} is now a ${project.task}, the run was a ${kind}. Restore the source ` +
          'that the run was trained with.',
      );
    }
    return { project, hyperparameters: parseHyperparameters(project, config.hyperparameters) };
  }

  async #load(): Promise<LoadedProject> {
    const { config } = this.#source;
    const { project, hyperparameters } = await this.code();
    const data = await loadProjectData(project, hyperparameters, this.#source);
    return {
      project,
      hyperparameters,
      task: ensembleTask(taskFor(project, data.train), config, project.metrics),
      data,
    };
  }

  #warn(message: string): void {
    if (!this.warnings.includes(message)) this.warnings.push(message);
  }
}
