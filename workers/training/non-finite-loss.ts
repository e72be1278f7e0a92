import type { Position } from './report.ts';

/** All ranks throw it at the same rendezvous, also those whose loss was well. */
export class NonFiniteLossError extends Error {
  override name = 'NonFiniteLossError';
  readonly at: Position & { rank: number };

  constructor(at: Position & { rank: number }) {
    super(
      `The training loss of rank ${at.rank} was not finite at epoch ${at.epoch}, step ${at.step}; that update was not made and all ` +
        'ranks stopped. Lower the learning rate or look at the data; --on-non-finite skip leaves such updates out instead.',
    );
    this.at = at;
  }
}
