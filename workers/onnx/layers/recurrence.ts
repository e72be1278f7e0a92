import type { LayerConfig, Weight } from '../../exchange/model-calls.ts';

/** A recurrent layer over sequences `[B, T, F]`. */
export interface Recurrence {
  kind: 'LSTM' | 'GRU' | 'SimpleRNN';
  config: LayerConfig;
  weights: ReadonlyMap<string, Weight>;
  units: number;
  /** From the last step to the first. */
  isBackward: boolean;
  /** 1 for each step that counts: float32 `[B, T]`. */
  mask?: string;
  /** Initial states `[B, H]`; none: zeros. */
  states: readonly string[];
}

/** Results of a recurrence: outputs in the order of the steps, `[B, T, H]`, and the last states, `[B, H]`. */
export interface Unrolled {
  sequence: string;
  states: string[];
}
