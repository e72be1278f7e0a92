import { ownSummary, type RunRecord } from '../../../../core/protocol/run/record.ts';

/**
 * Why a run ended, in a few words for its status; null while it trains, and where the status or the error below it says
 * all.
 */
export function endReason(record: Pick<RunRecord, 'summary' | 'attempts' | 'config' | 'status'>): string | null {
  if (record.status !== 'finished' && record.status !== 'stopped') return null;
  switch (ownSummary(record)?.stopReason) {
    case 'early-stopping':
      return `stopped early: no improvement for ${countEvaluations(record.config.earlyStopping.patience)}`;
    case 'requested':
      return 'on request';
    default:
      return null;
  }
}

function countEvaluations(count: number): string {
  return count === 1 ? '1 evaluation' : `${count} evaluations`;
}
