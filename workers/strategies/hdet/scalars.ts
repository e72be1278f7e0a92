import type { RunConfig, StrategyConfig } from '../../../core/protocol/run/config.ts';
import type { LayersModel } from '../../tensorflow/tf.ts';
import type { UpdateSettings } from '../../optimizers/optimizers.ts';
import { DropoutRates } from './dropout-rates.ts';
import { groupsOfVariables } from './parameter-groups.ts';

export type HdetConfig = Extract<StrategyConfig, { kind: 'hdet' }>;

/** What an update takes of a scalar; these diverge by parameter group. */
const settingNames = ['learningRate', 'weightDecay'] as const;
type SettingName = (typeof settingNames)[number];

/** The values that scalars are to have on this rank, by name. */
export type ValueOf = (name: string) => number;

/**
 * What diverges between the ranks of a run, and where its values go: into updates (`learningRate`, `weightDecay`, one for each parameter
 * group: `learningRate/head`), into dropout layers (`dropout`, a factor on their rates) and into the loss (everything else).
 */
export class Scalars {
  /** Initial bases by name. Those of learning rates come from the schedule at every step. */
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

  /** Names of the learning rates, none where they do not diverge. */
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

  /** Sets dropout, and gives what the loss uses. */
  apply(valueOf: ValueOf): ReadonlyMap<string, number> {
    this.#dropout?.scale(valueOf('dropout'));
    const ofLoss = this.#diverging.filter((name) => !isSetting(name) && name !== 'dropout');
    return new Map(ofLoss.map((name) => [name, valueOf(name)]));
  }
}

/** What a scalar's values spread around at first. Dropout is a factor, around 1. */
function baseOf({ optimizer, loss, hyperparameters }: RunConfig, name: string): number {
  if (name === 'dropout') return 1;
  if (isSetting(name)) return optimizer[name];
  const base = { ...loss, ...hyperparameters }[name];
  if (typeof base === 'number') return base;
  throw new Error(`The strategy cannot diverge in "${name}": it is no number of this run. Leave it out.`);
}

function isSetting(name: string): name is SettingName {
  return settingNames.some((setting) => setting === name);
}

function nameIn(name: SettingName, group: string | null): string {
  return group === null ? name : `${name}/${group}`;
}
