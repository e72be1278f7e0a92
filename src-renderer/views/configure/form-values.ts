import type { OptionDescription, PlainObject } from '../../../core/options/index.ts';
import { mergeConfig, setPath } from '../../../core/options/index.ts';
import { getPath } from '../../../core/options/layers.ts';

/**
 * The values of a form: a project's defaults and, nested like the configuration, the user's changes to them
 * (`overrides`).
 */
export interface FormValues {
  readonly options: readonly OptionDescription[];
  readonly defaults: PlainObject;
  readonly overrides: PlainObject;
}

/** The value of an option that the run would use. */
export function valueOf(values: FormValues, option: OptionDescription): unknown {
  const merged = mergeConfig(values.defaults, values.overrides);
  return getPath(merged, option.path.split('.')) ?? option.default;
}

/** Whether the option exists with the current kinds: momentum exists only with `sgd`. */
export function isVisible(values: FormValues, { when }: OptionDescription): boolean {
  if (when === undefined) return true;
  const kind = getPath(mergeConfig(values.defaults, values.overrides), when.path.split('.'));
  return typeof kind === 'string' && when.equals.includes(kind);
}

/** The value of an option without its override, for the current kind of its section. */
export function standardOf(values: FormValues, option: OptionDescription): unknown {
  const base = isKind(option) ? values.defaults : baseOf(values);
  return getPath(base, option.path.split('.')) ?? option.default;
}

export function isChanged(values: FormValues, option: OptionDescription): boolean {
  return !isSame(valueOf(values, option), standardOf(values, option));
}

/**
 * The overrides after an option gets a value. A value equal to the default is no override; a new kind starts with its
 * own defaults.
 */
export function withValue(values: FormValues, option: OptionDescription, value: unknown): PlainObject {
  if (isKind(option)) return withKind(values, option, value);
  const rest = removePath(values.overrides, option.path.split('.'));
  return isSame(value, standardOf(values, option)) ? rest : setPath(rest, option.path, value);
}

/** The overrides that turn a project's defaults into a given configuration, such as an earlier run's. */
export function overridesFrom(
  options: readonly OptionDescription[],
  defaults: PlainObject,
  config: PlainObject,
): PlainObject {
  const kindsFirst = [...options].sort((a, b) => Number(isKind(b)) - Number(isKind(a)));
  return kindsFirst.reduce<PlainObject>((overrides, option) => {
    const values = { options, defaults, overrides };
    const value = getPath(config, option.path.split('.'));
    return value === undefined || !isVisible(values, option) ? overrides : withValue(values, option, value);
  }, {});
}

/** The overrides in the address of the form; null where it has none or they cannot be read. */
export function readOverrides(parameter: unknown): PlainObject | null {
  if (typeof parameter !== 'string') return null;
  try {
    const value: unknown = JSON.parse(parameter);
    return isObject(value) && !Array.isArray(value) ? { ...value } : null;
  } catch {
    // The address was cut off when it was copied: the form starts with the defaults.
    return null;
  }
}

/** Overrides as a parameter of the address; empty for none. */
export function writeOverrides(overrides: PlainObject): string {
  return Object.keys(overrides).length === 0 ? '' : JSON.stringify(overrides);
}

/** Whether the option decides which other options exist: `optimizer.kind`. */
function isKind({ path }: OptionDescription): boolean {
  return path.endsWith('.kind');
}

function withKind(values: FormValues, option: OptionDescription, kind: unknown): PlainObject {
  const section = option.path.slice(0, -'.kind'.length);
  const rest = removePath(values.overrides, section.split('.'));
  return kind === standardOf(values, option) ? rest : setPath(rest, option.path, kind);
}

/** The defaults for the current kinds: defaults for another kind of a section do not apply. */
function baseOf({ options, defaults, overrides }: FormValues): PlainObject {
  return options.filter(isKind).reduce((base, { path }) => {
    const kind = getPath(overrides, path.split('.'));
    return kind === undefined ? base : mergeConfig(base, setPath({}, path, kind));
  }, defaults);
}

/** A copy without the value at a path and without the objects that this leaves empty. */
function removePath(object: PlainObject, [key, ...rest]: readonly string[]): PlainObject {
  if (!Object.hasOwn(object, key)) return object;
  const { [key]: below, ...others } = object;
  if (rest.length === 0) return others;
  const left = isObject(below) ? removePath(below, rest) : {};
  return Object.keys(left).length === 0 ? others : { ...object, [key]: left };
}

function isObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
