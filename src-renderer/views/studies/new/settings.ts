import { z } from 'zod';
import {
  describeOptions,
  describeRule,
  type OptionDescription,
  parseOptionValue,
  type PlainObject,
  showValue,
} from '../../../../core/options/index.ts';
import { prunerSchema } from '../../../../core/search/pruners/settings.ts';
import { samplerSchema } from '../../../../core/search/samplers/index.ts';

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
