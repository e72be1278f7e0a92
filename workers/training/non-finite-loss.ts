import { AgreedError } from '../member/agreed-error.ts';
import type { Position } from '../member/report.ts';

/** A non-finite loss, which ends training on all ranks. */
export class NonFiniteLossError extends AgreedError {
  override name = 'NonFiniteLossError';

  constructor(at: Position & { rank: number }) {
    super(
      `The training loss of rank ${at.rank} was not finite at epoch ${at.epoch}, step ${at.step}. All ranks stopped before that ` +
        'update. Lower the learning rate, or check the data; --on-non-finite skip skips such updates instead.',
      at,
    );
  }
}
