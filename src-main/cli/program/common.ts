import { InvalidArgumentError } from 'commander';
import type { Delimiter } from '../../../core/preprocessing/reading.ts';
import { findProject } from '../../trust/examples.ts';

/** What commands call that does not belong to the command line. */
export interface ProgramParts {
  /** @returns the exit code */
  openDashboard: (args: string[]) => Promise<number>;
}

/** The argument of commands that act on one run. */
export const theRun = [
  '<run>',
  'its id or name, or the beginning of one, or its folder, or last for the newest run',
] as const;

/** A project as commands take it: its folder, or an example that Tutti brings along. */
export const projectFolder = (text: string): string => findProject(text, (note) => console.error(`note: ${note}`));

/** Collects the values of a repeatable option. */
export const collect = (value: string, earlier: string[]): string[] => [...earlier, value];

/** Sets the process's exit code to that of a command. */
export function exitWith<A extends unknown[]>(command: (...args: A) => Promise<number>): (...args: A) => Promise<void> {
  return async (...args) => {
    process.exitCode = await command(...args);
  };
}

/** Parses an option's value. */
export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };

/** Parses an option's value. */
export function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number above 0.');
}

/** What separates fields, by the words of a command line. */
export const delimiters: Record<string, Delimiter> = {
  ',': ',',
  ';': ';',
  '|': '|',
  tab: '\t',
  whitespace: 'whitespace',
};
