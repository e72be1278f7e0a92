/** What a process that runs a project's code may do. The hub passes it to the process, which gives up everything else as it starts. */
export interface Confinement {
  /** Absolute paths that it may read, each with all that lies in it. */
  read: readonly string[];
  /** Absolute paths that it may read and write. */
  write: readonly string[];
  network: boolean;
  /** Whether it may start other programs. */
  processes: boolean;
  /** Memory that it may allocate beyond what Node itself takes, in bytes; null: no limit. */
  memoryBytes: number | null;
  /** Whether the kernel enforces it too (Linux). Not on GPUs, whose drivers start programs and open other files. */
  isKernelAsked: boolean;
}

/** The variable that holds it, as JSON. It grants nothing: changing it later has no effect. */
export const confinementVariable = 'TUTTI_CONFINEMENT';
