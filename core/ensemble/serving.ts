import type { InputInfo, Tensor, TensorInfo } from './tensors.ts';

/** Messages between `tutti serve` and the process that predicts (`workers/entries/serve.ts`), by structured clone: arrays stay bytes. */

/** What the server knows of the ensemble once the process has opened it. */
export interface ServedEnsemble {
  /** Name of the run, and of the checkpoints. */
  name: string;
  set: string;
  /** How many. */
  members: number;
  inputs: InputInfo[];
  outputs: TensorInfo[];
  /** For the user of the terminal. */
  warnings: string[];
}

/** Samples to predict. The process gets the next ones after its answer. */
export interface ServeRequest {
  tensors: Tensor[];
  /** Names of outputs; null: all but those of single members. */
  outputs: string[] | null;
}

export type ServeReply =
  | { type: 'ready'; ensemble: ServedEnsemble }
  | { type: 'predicted'; outputs: Tensor[] }
  /** The samples, or the ensemble before it is ready, are at fault. */
  | { type: 'failed'; message: string; stack: string };
