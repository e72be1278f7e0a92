import { z } from 'zod';

/**
 * What a process that runs a project's code may do. The hub passes it to the process, which gives up everything else as
 * it starts.
 */
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
  /** Descriptors that it inherits beside the usual three. */
  inherited: readonly number[];
  /** Whether the kernel enforces it too (Linux). Not on GPUs, whose drivers start programs and open other files. */
  isKernelAsked: boolean;
}

/** The variable that holds it, as JSON. It grants nothing: changing it later has no effect. */
export const confinementVariable = 'TUTTI_CONFINEMENT';

const enforcerSchema = z.enum(['kernel', 'node', 'nothing']);

/**
 * Who refuses a process what it was not granted: the kernel, for all its threads and for native code; Node, for
 * JavaScript only; or nothing.
 */
export const enforcementSchema = z.strictObject({
  files: enforcerSchema,
  network: enforcerSchema,
  programs: enforcerSchema,
  /** Why the kernel does not enforce the rest, one reason each. */
  problems: z.array(z.string()),
});
export type Enforcement = z.output<typeof enforcementSchema>;

/** What Node's permission model enforces by itself. */
export function enforcedByNode(...problems: string[]): Enforcement {
  return { files: 'node', network: 'nothing', programs: 'node', problems };
}

/** The variable in which a confined process keeps its `Enforcement`, as JSON. */
export const enforcementVariable = 'TUTTI_ENFORCEMENT';

/** Who limits the process with this environment. */
export function enforcementIn(environment: Readonly<Record<string, string | undefined>>): Enforcement {
  const text = environment[enforcementVariable];
  if (text !== undefined) return enforcementSchema.parse(JSON.parse(text));
  return { files: 'nothing', network: 'nothing', programs: 'nothing', problems: ['it was started without limits'] };
}

/** One sentence for people. */
export function describeEnforcement({ problems, ...parts }: Enforcement): string {
  const by = (enforcer: string): string[] =>
    Object.entries(parts).flatMap(([part, own]) => (own === enforcer ? [part] : []));
  const phrases = [
    ['kernel', 'The kernel limits', 'for all threads'],
    ['node', 'Only Node limits', 'which does not hold for native code'],
    ['nothing', 'Nothing limits', ''],
  ].flatMap(([enforcer, start, end]) => {
    const names = by(enforcer);
    return names.length === 0 ? [] : [`${start} ${names.join(', ')}${end && `, ${end}`}`];
  });
  return `${phrases.join('. ')}${problems.length === 0 ? '' : ` (${problems.join('; ')})`}.`;
}
