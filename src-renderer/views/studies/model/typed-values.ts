import { describeDomain } from '../../../../core/search/space/describe-domain.ts';
import { checkAssignment, takesPart, type Assignment, type Space } from '../../../../core/search/space/space.ts';
import type { ParameterValue } from '../../../../core/search/space/parameter.ts';
import { messageOf } from '../../../../core/text/errors.ts';

/** Texts of a form by the path of their parameter. */
export type Typed = Readonly<Record<string, string>>;

export interface ReadValues {
  /** Of the parameters that take part. Null if a text is no value of its parameter. */
  values: Assignment | null;
  /** The parameters that take part beside the values so far. */
  taking: Space;
  /** What is wrong; null while nothing is. */
  problem: string | null;
}

/** The values that a form has, for the parameters whose conditions hold. */
export function readTyped(space: Space, typed: Typed): ReadValues {
  const values: Record<string, ParameterValue> = {};
  const taking = space.filter((parameter) => {
    if (!takesPart(parameter, values)) return false;
    values[parameter.path] = valueOf(parameter, typed[parameter.path] ?? '');
    return true;
  });
  const empty = taking.find(({ path }) => (typed[path] ?? '').trim() === '');
  if (empty !== undefined) {
    return { values: null, taking, problem: `${empty.path} is missing: give it ${describeDomain(empty.domain)}.` };
  }
  try {
    checkAssignment(space, values);
    return { values, taking, problem: null };
  } catch (error) {
    return { values: null, taking, problem: messageOf(error) };
  }
}

/** A choice by its text; a number; a text that is neither stays, so that the message shows it. */
function valueOf({ domain }: Space[number], text: string): ParameterValue {
  if (domain.kind === 'choice') return domain.choices.find((choice) => String(choice) === text) ?? text;
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}

/** The texts of values, with which a form starts. */
export function typedOf(values: Assignment): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([path, value]) => [path, String(value)]));
}
