import type { Kernel } from '../kernel.ts';
import { gru, gruGradient } from './gru.ts';
import { lstm, lstmGradient } from './lstm.ts';
import type { CellKind } from './sequence.ts';
import { simple, simpleGradient } from './simple.ts';

/** Names of the kernels of a kind of cell. */
export const kernelNames: Readonly<Record<CellKind, { forward: string; backward: string }>> = {
  gru: { forward: 'GruSequence', backward: 'GruSequenceGradient' },
  lstm: { forward: 'LstmSequence', backward: 'LstmSequenceGradient' },
  simpleRNN: { forward: 'SimpleSequence', backward: 'SimpleSequenceGradient' },
};

/**
 * Recurrent layers over whole sequences. All products with the inputs are one matrix product; each step then has one with the state, and one pass over
 * its gates.
 */
export const recurrentKernels: Record<string, Kernel> = {
  GruSequence: gru,
  GruSequenceGradient: gruGradient,
  LstmSequence: lstm,
  LstmSequenceGradient: lstmGradient,
  SimpleSequence: simple,
  SimpleSequenceGradient: simpleGradient,
};
