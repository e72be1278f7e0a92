import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { samplerOf, strategyRules } from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { holdsOut } from '../../../core/protocol/run/data-config.ts';
import type { Splits } from '../dataset.ts';

const usable = ['shuffled', 'shared', 'sequential'];

/** @throws Error where a run needs what a stream does not have: access to single samples */
export function requireStreamable(config: RunConfig, { train, validation, test, unlabelled }: Splits): void {
  const other = [validation, test, unlabelled].find((split) => split?.stream !== undefined);
  if (other !== undefined) {
    throw new Error(
      `"${other.name}" is a stream, which only the training split can be. Give samples in memory, or on disk ` +
        '(createSourceDataset).',
    );
  }
  if (train.stream === undefined) return;
  const reasons: [boolean, string][] = [
    [
      strategyRules[config.strategy.kind].isOneModel,
      `the strategy ${config.strategy.kind}, whose ranks train one model`,
    ],
    [!usable.includes(samplerOf(config)), `--sampler ${samplerOf(config)}`],
    [config.data.mode === 'broadcast', '--data.mode broadcast'],
    [config.data.bagging, '--data.bagging'],
    [holdsOut(config.data), 'samples that ranks hold out (--data.hold-out, --data.fold-per-rank)'],
  ];
  const reason = reasons.find(([applies]) => applies)?.[1];
  if (reason === undefined) return;
  throw new Error(
    `"${train.name}" is a stream, which has no access to single samples, as ${reason} needs it. Use samples with ` +
      'random access (createSourceDataset, arrayShards), or leave that option out.',
  );
}
