import type { PredictionColumn } from '../../core/ensemble/columns.ts';
import type { ColumnWarning } from '../../core/ensemble/serving.ts';
import { combineMembers } from '../../core/ensemble/combine-members.ts';
import type { EnsemblePredictions, MemberOutputStack } from '../../core/ensemble/predictions.ts';
import type { EnsembleDescription } from '../../core/ensemble/schema.ts';
import { cautionsOf } from '../../core/postprocessing/describe.ts';
import type { Postprocessing } from '../../core/postprocessing/schema.ts';
import type { Preprocessing } from '../../core/preprocessing/schema.ts';
import type { LayersModel } from '../tensorflow/tf.ts';
import type { BatchDistances } from './batch-distances.ts';
import { type EnsembleInput, type PreparedInput, prepareInput, tableOfRows } from './inputs.ts';
import { type Head, headsOf, predictMembers } from './member-outputs.ts';
import { TableLosses } from './table-losses.ts';

/** What is known of the samples that were predicted. */
interface PredictedRows {
  warnings: readonly ColumnWarning[];
  /** Columns that say which samples these are, as a file of predictions begins with; none but of series. */
  places: readonly PredictionColumn[];
}

/** The trained models of an ensemble, which predict together. */
export class Ensemble {
  /** Task, members, names of classes. */
  readonly description: EnsembleDescription;
  /** What was fitted on the training split; null if nothing was kept. */
  readonly preprocessing: Preprocessing | null;
  /** What was fitted on held-out predictions, such as a calibration; null if nothing was. */
  readonly postprocessing: Postprocessing | null;
  /** One for each member, in the order of the description. */
  readonly models: readonly LayersModel[];
  readonly #heads: readonly Head[];
  readonly #distances: BatchDistances | null;

  /** @param models one for each member, in the order of the description, which the ensemble disposes of */
  constructor(
    description: EnsembleDescription,
    models: readonly LayersModel[],
    {
      preprocessing = null,
      postprocessing = null,
      distances = null,
    }: Partial<Pick<Ensemble, 'preprocessing' | 'postprocessing'> & { distances: BatchDistances | null }> = {},
  ) {
    this.description = description;
    this.models = models;
    this.preprocessing = preprocessing;
    this.postprocessing = postprocessing;
    this.#distances = distances;
    this.#heads = headsOf(description, models);
  }

  /**
   * Predicts with all members and combines what they predict. Memory holds one batch of activations and the results.
   * `warnings` count, for each column of rows or of a table, missing values and categories that the training split
   * lacks. Of rows or a table of a series, `places` has the name of each series and the time of its last step.
   * @throws Error that names the column, the shape or the input that does not fit
   */
  async predict(input: EnsembleInput): Promise<EnsemblePredictions & PredictedRows> {
    const table = 'rows' in input ? tableOfRows(input.rows, this.preprocessing) : 'table' in input ? input.table : null;
    const prepared = this.#prepared(table === null ? input : { table });
    const found = this.combine(await this.#outputsOf(prepared));
    const losses = new TableLosses(this.preprocessing);
    if (table !== null) losses.add(table);
    return { ...found, warnings: losses.warnings(), places: prepared.places ?? [] };
  }

  /** Combines what {@link outputs} returned. */
  combine(stack: MemberOutputStack): EnsemblePredictions {
    const { task, combination, outputs } = this.description;
    const { postprocessing } = this;
    return combineMembers(stack, { task, combination, outputs, target: this.preprocessing?.target, postprocessing });
  }

  /** The members' outputs before they are combined: logits, or values in the unit in which the models were trained. */
  async outputs(input: EnsembleInput): Promise<MemberOutputStack> {
    return this.#outputsOf(this.#prepared(input));
  }

  #prepared(input: EnsembleInput): PreparedInput {
    return prepareInput(input, this.preprocessing, this.#featureShape(input));
  }

  #outputsOf(prepared: PreparedInput): Promise<MemberOutputStack> {
    return predictMembers(this.models, this.#heads, prepared, this.#distances);
  }

  /**
   * What a reader of the answers must know, such as intervals that have no ends because too few samples fitted them;
   * sentences.
   */
  get cautions(): string[] {
    if (this.postprocessing === null) return [];
    const { classNames } = this.postprocessing;
    return cautionsOf({ ...this.postprocessing, classNames: classNames ?? this.description.classNames });
  }

  /** Frees the models' memory. */
  dispose(): void {
    for (const model of this.models) model.dispose();
  }

  /** Names of the inputs that take columns of texts. */
  #textInputs(): string[] {
    const texts = this.preprocessing?.steps.flatMap((step) => (step.kind === 'texts' ? step.columns : [])) ?? [];
    return texts.flatMap(({ input }) => input ?? []);
  }

  /** Shape of one sample at the input that takes the features: the one without a further input of its name. */
  #featureShape(input: EnsembleInput): (number | null)[] {
    const isTable = 'rows' in input || 'table' in input;
    const extra = isTable ? this.#textInputs() : Object.keys(('extraInputs' in input && input.extraInputs) || {});
    const [model] = this.models;
    // A sequential model has no names of inputs.
    const free = model.inputs.map(({ shape }, i) => ({ name: model.inputNames?.[i], shape: shape.slice(1) }));
    const unnamed = free.length === 1 ? free : free.filter(({ name }) => !extra.includes(name));
    if (unnamed.length === 1) return unnamed[0].shape;
    throw new Error(
      `The model has the inputs ${model.inputNames.join(', ')}. The values go to one; give each other one in ` +
        'extraInputs, under its name.',
    );
  }
}
