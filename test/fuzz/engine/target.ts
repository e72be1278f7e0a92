/** One parser under test. */
export interface FuzzTarget {
  name: string;
  /** What it reads, for the report. */
  reads: string;
  /** Valid inputs from which cases are made. */
  seeds: () => Promise<readonly Uint8Array[]>;
  /**
   * Reads one input. Returns, or throws the module's own error. Anything else is a finding. It leaves nothing behind
   * that changes the next case.
   */
  run: (bytes: Buffer) => unknown;
  /** The longest input in bytes; 16 KiB by default. */
  maximumBytes?: number;
  /** Share of the cases in comparison with other targets; 1 by default. Targets that write files are slower. */
  weight?: number;
  /** Removes what the target opened. */
  close?: () => Promise<void>;
}
