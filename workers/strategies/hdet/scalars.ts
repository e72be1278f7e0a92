import type { RunConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import { trainedWeightNames } from '../../member/weights.ts';

export type HdetConfig = Extract<StrategyConfig, { kind: 'hdet' }>;

/** Scalars that are settings of an update. They diverge by parameter group. */
const settingNames = ['learningRate', 'weightDecay'] as const;
type SettingName = (typeof settingNames)[number];

/** A scalar's value on this rank. */
export type ValueOf = (name: string) => number;

/**
 * The scalars that diverge between a run's ranks, and the use of their values: in updates (`learningRate`,
 * `weightDecay`, one for each parameter group: `learningRate/head`), in dropout layers (`dropout`, a factor of their
 * rates), and in the loss (all others).
 */
export class Scalars {
  /** Initial bases by name. The schedule sets those of learning rates at every step. */
  readonly bases: ReadonlyMap<string, number>;
  readonly #diverging: readonly string[];
  /** Group of each variable. */
  readonly #groups: readonly (string | null)[];
  readonly #dropout: DropoutRates | null;

  constructor(config: RunConfig, { diverge, groups }: HdetConfig, model: LayersModel) {
    this.#diverging = diverge;
    this.#groups = groupsOfVariables(model, groups);
    this.#dropout = diverge.includes('dropout') ? new DropoutRates(model) : null;
    const distinct = [...new Set(this.#groups)];
    this.bases = new Map(
      diverge.flatMap((name) =>
        isSetting(name)
          ? distinct.map((group): [string, number] => [nameIn(name, group), baseOf(config, name)])
          : [[name, baseOf(config, name)]],
      ),
    );
  }

  /** Names of the learning rates; empty where they do not diverge. */
  get learningRates(): string[] {
    return [...this.bases.keys()].filter((name) => name.split('/')[0] === 'learningRate');
  }

  /** Settings of each variable's update. */
  settings(scheduled: UpdateSettings, valueOf: ValueOf): UpdateSettings[] {
    // Variables of a group share one object, so that an optimizer prepares it once.
    const byGroup = new Map(
      [...new Set(this.#groups)].map((group) => {
        const own = settingNames.filter((name) => this.#diverging.includes(name));
        const values = own.map((name) => [name, valueOf(nameIn(name, group))]);
        return [group, { ...scheduled, ...(Object.fromEntries(values) as Partial<UpdateSettings>) }];
      }),
    );
    return this.#groups.map((group) => byGroup.get(group) ?? scheduled);
  }

  /** Sets the dropout rates. @returns the values for the loss, by name */
  apply(valueOf: ValueOf): ReadonlyMap<string, number> {
    this.#dropout?.scale(valueOf('dropout'));
    const ofLoss = this.#diverging.filter((name) => !isSetting(name) && name !== 'dropout');
    return new Map(ofLoss.map((name) => [name, valueOf(name)]));
  }
}

/** A scalar's initial base. Dropout is a factor, so its base is 1. */
function baseOf({ optimizer, loss, hyperparameters }: RunConfig, name: string): number {
  if (name === 'dropout') return 1;
  if (isSetting(name)) return optimizer[name];
  const base = { ...loss, ...hyperparameters }[name];
  if (typeof base === 'number') return base;
  throw new Error(
    `The strategy cannot diverge in "${name}", which is not a number in this run's configuration. Remove it.`,
  );
}

function isSetting(name: string): name is SettingName {
  return settingNames.some((setting) => setting === name);
}

function nameIn(name: SettingName, group: string | null): string {
  return group === null ? name : `${name}/${group}`;
}

/** The property that tfjs's dropout layers read at every call. */
interface DropoutLayer {
  rate: number;
}

/** Scales the rates of a model's dropout layers. */
export class DropoutRates {
  readonly #layers: readonly { layer: DropoutLayer; rate: number }[];

  /** @throws when the model has no dropout layer */
  constructor(model: LayersModel) {
    const layers = model.layers.filter((layer) => layer.getClassName() === 'Dropout');
    if (layers.length === 0) {
      throw new Error(
        'The strategy diverges in dropout, but the model has no dropout layer. Remove dropout from the strategy.',
      );
    }
    this.#layers = layers.map((layer) => {
      const dropout = layer as unknown as DropoutLayer;
      return { layer: dropout, rate: dropout.rate };
    });
  }

  /** Sets every rate to the layer's original rate times the factor, at most 0.95: some units must stay. */
  scale(factor: number): void {
    for (const { layer, rate } of this.#layers) layer.rate = Math.min(0.95, Math.max(0, rate * factor));
  }
}

/** Selects weights by a pattern of their names. A weight belongs to the first group whose pattern matches. */
export interface ParameterGroup {
  name: string;
  /** A regular expression, tried on names such as `dense_1/kernel`. */
  weights: string;
}

/**
 * The group of each trained variable, in the model's order; null for those in none.
 *
 * @throws when a pattern is not a regular expression, or a group has no weights
 */
export function groupsOfVariables(model: LayersModel, groups: readonly ParameterGroup[]): (string | null)[] {
  const patterns = groups.map(({ name, weights: pattern }) => ({ name, pattern: compile(name, pattern) }));
  const trained = trainedWeightNames(model);
  const found = trained.map((weight) => patterns.find(({ pattern }) => pattern.test(weight))?.name ?? null);
  const empty = groups.find(({ name }) => !found.includes(name));
  if (empty === undefined) return found;
  throw new Error(
    `Parameter group "${empty.name}" has no weights: "${empty.weights}" matches none of ${trained.join(', ')} that ` +
      'is not in an earlier group. Change the pattern, or remove the group.',
  );
}

function compile(name: string, pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw new Error(`"${pattern}" of parameter group "${name}" is not a regular expression. Correct it.`, {
      cause: error,
    });
  }
}
