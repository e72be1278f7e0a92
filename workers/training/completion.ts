import type { Launch } from '../../core/protocol/run/messages.ts';
import type { DecisionsOfOthers } from '../callbacks/follow-others.ts';
import type { History } from './history.ts';

/** What a missing member needs to know of the others, up to whose end it trains alone. */
export interface Completion extends DecisionsOfOthers {
  until: NonNullable<Launch['until']>;
  /** Metrics of the others' evaluations. */
  history: History;
}

/**
 * Brings a member that has come as far as the others to their round, and gives it their history: they can then resume
 * together.
 */
export function joinOthers(
  { until, history: others }: Completion,
  own: { rank: number; progress: { round: number }; history: History },
): void {
  own.progress.round = until.round;
  own.history.adopt(others, [`val/member_${own.rank}_`]);
}
