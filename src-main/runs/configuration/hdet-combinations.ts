import type { ConfigProblem } from '../../../core/options/index.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { adapts } from '../../../core/protocol/run/strategies/strategy-rules.ts';

type HdetConfig = Extract<RunConfig['strategy'], { kind: 'hdet' }>;

/** Conflicts of the strategy `hdet` with the rest of a configuration. */
export function conflictsOfHdet(config: RunConfig, hasOwnLoss: boolean): ConfigProblem[] {
  const { strategy } = config;
  if (!('diverge' in strategy)) return [];
  const scalars = [...new Set(strategy.diverge)].flatMap((name) => {
    const message = objectionTo(name, config, hasOwnLoss);
    return message === null ? [] : [{ path: 'strategy.diverge', message }];
  });
  return [...scalars, ...conflictsOfDecay(config, strategy), ...conflictsOfFeedback(strategy)];
}

/** A sync of the weights would not know what a rank's encodings left out. */
function conflictsOfFeedback({ compression, errorFeedback }: HdetConfig): ConfigProblem[] {
  if (compression !== '1-bit' && !errorFeedback) return [];
  const message =
    'The strategy hdet keeps no residuals of encoded gradients. Use --strategy.compression none or bfloat16, and ' +
    '--strategy.error-feedback false.';
  return [{ path: 'strategy.compression', message }];
}

/** The default decay has no target if the schedule has no last rate. */
function conflictsOfDecay({ schedule }: RunConfig, strategy: HdetConfig): ConfigProblem[] {
  const needsFloor = adapts(strategy) && strategy.decay === null && strategy.diverge.includes('learningRate');
  if (!needsFloor || schedule.kind === 'one-cycle') return [];
  const message =
    `With --schedule ${schedule.kind} --strategy.decay has no last rate to lead to. Use --schedule one-cycle, set ` +
    'a decay (0 for none), or follow the schedule with --strategy.adapt false.';
  return [{ path: 'strategy.decay', message }];
}

/** Changes at a resume that would have no effect, because the strategy continues with bases that it has adapted. */
export function changesOfAdaptedBases(before: RunConfig, config: RunConfig): ConfigProblem[] {
  const { strategy } = config;
  if (!adapts(strategy) || !adapts(before.strategy)) return [];
  const changed = strategy.diverge
    .map((name) => ({ path: pathOfBase(name, config), from: baseOf(name, before), to: baseOf(name, config) }))
    .concat({ path: 'strategy.decay', from: before.strategy.decay, to: strategy.decay })
    .filter(({ from, to }) => from !== to);
  return changed.map(({ path, from, to }) => ({
    path,
    message:
      `${path} cannot change from ${String(from)} to ${String(to)}: the strategy hdet adapts from its first value ` +
      'on, and a resume continues with what became of it. Omit the option, or end the adaptation with ' +
      '--strategy.adapt false.',
  }));
}

function baseOf(name: string, { optimizer, loss, hyperparameters }: RunConfig): unknown {
  if (name === 'learningRate' || name === 'weightDecay') return optimizer[name];
  return { ...loss, ...hyperparameters }[name];
}

function pathOfBase(name: string, { loss, hyperparameters }: RunConfig): string {
  if (name in hyperparameters) return `hyperparameters.${name}`;
  return name in loss ? `loss.${name}` : `optimizer.${name}`;
}

/** Why ranks cannot differ in a scalar; null if they can. */
function objectionTo(
  name: string,
  { optimizer, loss, hyperparameters }: RunConfig,
  hasOwnLoss: boolean,
): string | null {
  if (name === 'learningRate' || name === 'dropout') return null;
  if (name === 'weightDecay') return optimizer.weightDecay > 0 ? null : nothingToSpread(name, optimizer.weightDecay);
  if (!(name in hyperparameters) && (name === 'labelSmoothing' || name === 'temperature')) {
    if (loss[name] === 0) return nothingToSpread(name, 0);
    if (!hasOwnLoss) return null;
    return `The strategy hdet cannot diverge in ${name}: this project's own loss does not read it. Omit it.`;
  }
  const value = hyperparameters[name];
  if (typeof value !== 'number') {
    return (
      `The strategy hdet cannot diverge in "${name}": it must be one of learningRate, weightDecay, dropout, ` +
      'labelSmoothing and temperature, or a numeric hyperparameter of the project. Omit it.'
    );
  }
  if (value === 0) return nothingToSpread(name, value);
  if (hasOwnLoss) return null;
  return `The strategy hdet cannot diverge in "${name}": this project has no own loss that could read it. Omit it.`;
}

function nothingToSpread(name: string, value: number): string {
  return (
    `The strategy hdet cannot diverge in ${name}: ranks would differ by fractions of ${value}. Set it to another ` +
    'value, or omit it.'
  );
}
