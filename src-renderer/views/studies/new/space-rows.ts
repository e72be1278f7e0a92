import {
  describeOptions,
  describeRule,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
  showValue,
} from '../../../../core/options/index.ts';
import { explainUnfitting } from '../../../../core/search/space/fit-options.ts';
import { parseParameter, writeDomain } from '../../../../core/search/space/parse.ts';
import { type SearchSpace, searchSpaceSchema } from '../../../../core/search/space/schema.ts';
import { messageOf } from '../../../../core/text/errors.ts';
import { z } from 'zod';
import { prunerSchema } from '../../../../core/search/pruners/settings.ts';
import { samplerSchema } from '../../../../core/search/samplers/index.ts';

/** A parameter of the form: an option, and its values as the command line writes them. */
export interface SpaceRow {
  path: string;
  text: string;
}

export interface ReadSpace {
  /** Null while a row is wrong, or none is there. */
  space: SearchSpace | null;
  /** What is wrong with each row; null for none. */
  problems: (string | null)[];
}

/** The space that the rows describe, checked as the hub will. */
export function readRows(rows: readonly SpaceRow[], options: readonly OptionDescription[]): ReadSpace {
  const read = rows.map(({ path, text }, index) => {
    if (path === '') return { problem: 'Choose an option.' };
    if (rows.findIndex((row) => row.path === path) < index) return { problem: `${path} is already there.` };
    try {
      return { entry: [path, parseParameter(`${path}=${text}`).parameter] as const };
    } catch (error) {
      return { problem: messageOf(error) };
    }
  });
  const problems = read.map(({ problem }) => problem ?? null);
  if (rows.length === 0 || problems.some((problem) => problem !== null)) return { space: null, problems };
  const space = Object.fromEntries(read.flatMap(({ entry }) => (entry === undefined ? [] : [entry])));
  const faults = new Map(explainUnfitting(space, options).map(({ path, message }) => [path, message]));
  const checked = searchSpaceSchema.safeParse(space);
  for (const { path, message } of checked.error?.issues ?? []) faults.set(String(path[0]), message);
  const explained = rows.map(({ path }) => faults.get(path) ?? null);
  return { space: faults.size === 0 && checked.success ? checked.data : null, problems: explained };
}

export function rowsOf(space: SearchSpace): SpaceRow[] {
  return Object.entries(space).map(([path, parameter]) => ({ path, text: writeDomain(parameter) }));
}

/** The options that can be searched: a space names hyperparameters of the project without a prefix. */
export function searchable(options: readonly OptionDescription[]): OptionDescription[] {
  const prefix = 'hyperparameters.';
  return options.map((option) =>
    option.path.startsWith(prefix) ? { ...option, path: option.path.slice(prefix.length) } : option,
  );
}

/** A first proposal of values for an option. */
export function proposalFor({ type, choices, default: standard }: OptionDescription): string {
  if (choices !== undefined) return `choice(${choices.map(({ value }) => value).join(',')})`;
  if (type === 'boolean') return 'choice(true,false)';
  if (typeof standard !== 'number') return 'float(0,1)';
  if (type === 'integer') return `int(${Math.max(1, Math.round(standard / 4))},${Math.max(2, standard * 4)})`;
  return standard > 0 ? `log(${precise(standard / 100)},${precise(standard * 100)})` : 'float(0,1)';
}

function precise(value: number): number {
  return Number(value.toPrecision(3));
}

/** The settings of samplers and pruners, which follow from their schemas. */

export type Chooser = 'sampler' | 'pruner';

const described = describeOptions(z.object({ sampler: samplerSchema, pruner: prunerSchema }));

/** The settings of a kind of sampler or pruner. */
export function settingsOf(chooser: Chooser, kind: string): OptionDescription[] {
  return described.filter(
    ({ path, when }) => path !== `${chooser}.kind` && when?.path === `${chooser}.kind` && when.equals.includes(kind),
  );
}

/** What a field shows before anything was typed. */
export function standardText({ default: standard }: OptionDescription): string {
  return standard === undefined ? '' : showValue(standard);
}

/** @param texts by path; the default where there is none */
export function readSettings(
  chooser: Chooser,
  kind: string,
  texts: Readonly<Record<string, string>>,
): { values: PlainObject; problems: Record<string, string> } {
  const values: PlainObject = {};
  const problems: Record<string, string> = {};
  for (const option of settingsOf(chooser, kind)) {
    const text = texts[option.path] ?? standardText(option);
    try {
      values[option.path.slice(chooser.length + 1)] = parseOptionValue(option, text);
    } catch {
      problems[option.path] = `It is ${text === '' ? 'empty' : text}, but must be ${describeRule(option)}.`;
    }
  }
  return { values, problems };
}
