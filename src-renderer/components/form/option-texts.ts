import { parseOptionValue, setPath, type OptionDescription, type PlainObject } from '../../../core/options/index.ts';
import { messageOf } from '../../../core/text/errors.ts';

/** An option and its value or values, as the user typed them. */
export interface OptionText {
  path: string;
  text: string;
}

/** Options with one value in all runs as changes of a configuration, or what is wrong with the first wrong one. */
export function readFixed(
  fixed: readonly OptionText[],
  options: readonly OptionDescription[],
): { overrides: PlainObject; problem: string | null } {
  let overrides: PlainObject = {};
  for (const { path, text } of fixed) {
    const option = options.find((one) => one.path === path);
    if (option === undefined) return { overrides, problem: 'Choose an option, or remove its row.' };
    try {
      overrides = setPath(overrides, path, parseOptionValue(option, text));
    } catch (error) {
      return { overrides, problem: `${path}: ${messageOf(error)}` };
    }
  }
  return { overrides, problem: null };
}

/** The choices of a field, from a table of kinds. */
export function choicesOf<Kind extends string>(
  table: Readonly<Record<Kind, { label: string; help: string }>>,
): { id: Kind; title: string; help: string }[] {
  return Object.entries<{ label: string; help: string }>(table).map(([kind, { label, help }]) => ({
    id: kind as Kind,
    title: label,
    help,
  }));
}
