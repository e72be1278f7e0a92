import type { StrategyEvent } from '../strategy.ts';

/** Tells how many samples one update sees. */
export function effectiveBatch(batchSize: number, worldSize: number, accumulate: number): StrategyEvent {
  const samples = batchSize * worldSize * accumulate;
  const parts = accumulate === 1 ? '' : ` × ${accumulate} accumulated`;
  return {
    kind: 'effective-batch',
    message: `Effective batch size ${samples}: ${batchSize} samples × ${worldSize} ranks${parts}.`,
    data: { samples, batchSize, worldSize, accumulate },
    points: new Map(),
  };
}
