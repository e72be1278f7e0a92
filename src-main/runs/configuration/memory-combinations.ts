import type { ConfigProblem } from '../../../core/options/index.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { askedPerWorker } from '../../../core/protocol/run/workers.ts';
import { splitsState } from '../../../core/protocol/run/strategies/strategy-rules.ts';

/** Stages 2 and 3 of sharded training compute layer by layer; stage 3 keeps no whole weight between steps. */
export function conflictsOfShards({ strategy, ema, backend, activationCheckpointing }: RunConfig): ConfigProblem[] {
  if (!splitsState(strategy)) return [];
  const conflicts: ConfigProblem[] = [];
  if (strategy.weightPrecision !== 'float32' && strategy.stage < 3) {
    const message =
      `Stage ${strategy.stage} of the strategy sharded keeps whole weights in float32 for the passes of the ` +
      'layers. Use --strategy.stage 3, or --strategy.weight-precision float32.';
    conflicts.push({ path: 'strategy.weightPrecision', message });
  }
  if (strategy.stage === 1) return conflicts;
  if (activationCheckpointing !== 'none') {
    const message =
      `Stage ${strategy.stage} of the strategy sharded computes one layer at a time and keeps all activations. Use ` +
      '--strategy.stage 1, or --activation-checkpointing none.';
    conflicts.push({ path: 'activationCheckpointing', message });
  }
  if (strategy.stage === 2) return conflicts;
  if (ema.decay > 0) {
    const message =
      'Stage 3 of the strategy sharded keeps no whole weights, of which --ema.decay averages. Use ' +
      '--strategy.stage 2, or --ema.decay 0.';
    conflicts.push({ path: 'ema.decay', message });
  }
  if (backend === 'tensorflow' || backend === 'webgpu') {
    const message =
      `Stage 3 of the strategy sharded frees weights between their uses, which the ${backend} backend cannot. Use ` +
      '--strategy.stage 2, or --backend wasm.';
    conflicts.push({ path: 'strategy.stage', message });
  }
  return conflicts;
}

/** Where nothing packs an optimizer's state. */
export function conflictsOfStatePrecision(config: RunConfig): ConfigProblem[] {
  const { optimizer, backend } = config;
  const { statePrecision } = optimizer;
  if (statePrecision === 'float32') return [];
  const path = 'optimizer.statePrecision';
  if (backend === 'tensorflow' || backend === 'webgpu') {
    const message =
      `The ${backend} backend has no kernel that packs an optimizer's state to ${statePrecision}. Use ` +
      '--optimizer.state-precision float32, or --backend wasm.';
    return [{ path, message }];
  }
  const stacked = whyNotStackedState(optimizer, askedPerWorker(config), 'members');
  return stacked === null
    ? []
    : [{ path, message: `${stacked} Use --members-per-device 1, or --optimizer.state-precision float32.` }];
}

/** Why the optimizer's state cannot be that of several members or trials in one worker; null if it can. */
export function whyNotStackedState(
  { statePrecision }: RunConfig['optimizer'],
  count: number,
  what: 'members' | 'trials',
): string | null {
  if (statePrecision === 'float32' || count === 1) return null;
  return (
    `A worker that trains ${count} ${what} as one computation keeps their optimizers' state as float32, not ` +
    `${statePrecision}.`
  );
}
