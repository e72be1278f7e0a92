/** What commands call that does not belong to the command line. */
export interface ProgramParts {
  /** @returns the exit code */
  openDashboard: (args: string[]) => Promise<number>;
}

/** The argument of commands that act on one run. */
export const theRun = ['<run>', 'its id or name, or the beginning of one, or its folder'] as const;

/** Collects the values of a repeatable option. */
export const collect = (value: string, earlier: string[]): string[] => [...earlier, value];

/** Sets the process's exit code to that of a command. */
export function exitWith<A extends unknown[]>(command: (...args: A) => Promise<number>): (...args: A) => Promise<void> {
  return async (...args) => {
    process.exitCode = await command(...args);
  };
}
