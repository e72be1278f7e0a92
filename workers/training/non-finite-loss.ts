import { AgreedError } from '../member/agreed-error.ts';
import type { Position } from '../member/report.ts';

/** A loss that was not finite ends all ranks. */
export class NonFiniteLossError extends AgreedError {
  override name = 'NonFiniteLossError';

  constructor(at: Position & { rank: number }) {
    super(
      `The training loss of rank ${at.rank} was not finite at epoch ${at.epoch}, step ${at.step}; that update was not made and all ` +
        'ranks stopped. Lower the learning rate or look at the data; --on-non-finite skip leaves such updates out instead.',
      at,
    );
  }
}
