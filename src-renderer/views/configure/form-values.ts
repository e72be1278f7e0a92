import type { OptionDescription, PlainObject } from '../../../core/options/index.ts';
import { mergeConfig, setPath } from '../../../core/options/index.ts';
import { getPath } from '../../../core/options/layers.ts';

/**
 * What the form holds: a project's defaults, and over them only what the user wants otherwise (`overrides`), nested as the
 * configuration is. Everything here is pure.
 */
export interface FormValues {
  readonly options: readonly OptionDescription[];
  readonly defaults: PlainObject;
  readonly overrides: PlainObject;
}

/** The value of an option as the run would have it. */
export function valueOf(values: FormValues, option: OptionDescription): unknown {
  const merged = mergeConfig(values.defaults, values.overrides);
  return getPath(merged, option.path.split('.')) ?? option.default;
}

/** Whether the option exists while others are as they are: momentum only does with `sgd`. */
export function isVisible(values: FormValues, { when }: OptionDescription): boolean {
  if (when === undefined) return true;
  const kind = getPath(mergeConfig(values.defaults, values.overrides), when.path.split('.'));
  return typeof kind === 'string' && when.equals.includes(kind);
}

/** The value that an option has while nothing overrides it (but the kind of its section). */
export function standardOf(values: FormValues, option: OptionDescription): unknown {
  const base = isKind(option) ? values.defaults : baseOf(values);
  return getPath(base, option.path.split('.')) ?? option.default;
}

export function isChanged(values: FormValues, option: OptionDescription): boolean {
  return !isSame(valueOf(values, option), standardOf(values, option));
}

/** The overrides once an option has this value. What equals the default is left out; another kind begins with its own defaults. */
export function withValue(values: FormValues, option: OptionDescription, value: unknown): PlainObject {
  if (isKind(option)) return withKind(values, option, value);
  const rest = removePath(values.overrides, option.path.split('.'));
  return isSame(value, standardOf(values, option)) ? rest : setPath(rest, option.path, value);
}

/** The overrides that turn a project's defaults into a given configuration, such as that of an earlier run. */
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

/** Whether the option chooses which others there are: `optimizer.kind`. */
function isKind({ path }: OptionDescription): boolean {
  return path.endsWith('.kind');
}

function withKind(values: FormValues, option: OptionDescription, kind: unknown): PlainObject {
  const section = option.path.slice(0, -'.kind'.length);
  const rest = removePath(values.overrides, section.split('.'));
  return kind === standardOf(values, option) ? rest : setPath(rest, option.path, kind);
}

/** The defaults, with the kinds as they are overridden: what a lower layer says of another kind means nothing. */
function baseOf({ options, defaults, overrides }: FormValues): PlainObject {
  return options.filter(isKind).reduce((base, { path }) => {
    const kind = getPath(overrides, path.split('.'));
    return kind === undefined ? base : mergeConfig(base, setPath({}, path, kind));
  }, defaults);
}

/** A copy without the value at a path, and without the objects that are empty for lack of it. */
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
