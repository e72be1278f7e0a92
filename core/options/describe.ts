import { z } from 'zod';
import { deviceSelectionSchema } from '../protocol/machine/devices.ts';

/**
 * `auto-or-count` is `auto` or a whole number. `json` stands for values without a text form: arrays, records, other
 * unions, nullable values.
 */
export type OptionType =
  'number' | 'integer' | 'auto-or-count' | 'boolean' | 'string' | 'choice' | 'device-selection' | 'json';

export type OptionChoice = { value: string; help: string };

/** The object that contains options, such as `earlyStopping`. */
export type OptionSection = { path: string; help: string };

/**
 * One option of a schema. If kinds of a discriminated union describe an option of the same path differently (another
 * default, another help), each has its own description with another `when`.
 */
export type OptionDescription = {
  /** Its path in the configuration: `earlyStopping.minDelta`, `optimizer.kind`. */
  path: string;
  /** Its flag in the terminal: `--early-stopping.min-delta`; for a union's kind the union's name, `--optimizer`. */
  flag: string;
  type: OptionType;
  help: string;
  /** Absent if the option is required. */
  default?: unknown;
  unit?: string;
  choices?: OptionChoice[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  /** Absent at the top level. */
  section?: OptionSection;
  /** The option exists only if the option at `path` has one of these values. */
  when?: { path: string; equals: string[] };
};

/** The schema in zod's JSON form, with `help`, `unit` and `deviceSelection` as further keys. */
type Node = z.core.JSONSchema.JSONSchema;
type Place = { path: string; section?: OptionSection; default?: unknown };

/**
 * Describes every option of an object schema, in order. Help and unit come from `.meta({ help, unit })`. An object
 * becomes its members; a union discriminated by `kind` becomes a choice of kinds, then the members of each kind.
 */
export function describeOptions(schema: z.ZodObject): OptionDescription[] {
  const root = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === deviceSelectionSchema) jsonSchema.deviceSelection = true;
    },
  });
  return describeMembers(root, { path: '' });
}

function describeMembers(node: Node, place: Place): OptionDescription[] {
  const section = place.path === '' ? undefined : { path: place.path, help: helpOf(node) };
  return Object.entries(node.properties ?? {}).flatMap(([key, child]) => {
    if (typeof child === 'boolean') return [];
    const path = place.path === '' ? key : `${place.path}.${key}`;
    return describeNode(child, { path, section, default: memberOf(place.default, key) ?? child.default });
  });
}

function describeNode(node: Node, place: Place): OptionDescription[] {
  const kinds = kindsOf(node);
  if (kinds !== null) return describeUnion(node, kinds, place);
  return node.properties === undefined ? [describeLeaf(node, place)] : describeMembers(node, place);
}

function describeUnion(node: Node, kinds: Map<string, Node>, place: Place): OptionDescription[] {
  const path = `${place.path}.kind`;
  const section = { path: place.path, help: helpOf(node) };
  const standard = memberOf(place.default, 'kind');
  const choice: OptionDescription = {
    path,
    flag: flagOf(place.path),
    type: 'choice',
    help: helpOf(node),
    choices: [...kinds].map(([value, variant]) => ({ value, help: helpOf(variant.properties?.kind) })),
    default: standard,
    section,
  };
  const members = [...kinds].flatMap(([kind, variant]) =>
    describeMembers(
      { ...variant, help: helpOf(node) },
      { path: place.path, default: kind === standard ? place.default : undefined },
    )
      .filter((description) => description.path !== path)
      .map((description) => ({ when: { path, equals: [kind] }, ...description })),
  );
  return [choice, ...mergeKinds(members, path)];
}

/** Groups descriptions by path and merges those that differ only in their kind. */
function mergeKinds(descriptions: OptionDescription[], kindPath: string): OptionDescription[] {
  const groups = Map.groupBy(descriptions, (description) => description.path);
  return [...groups.values()].flatMap((group) => {
    const merged = new Map<string, OptionDescription>();
    for (const description of group) {
      const { when, ...rest } = description;
      const key = JSON.stringify(when?.path === kindPath ? rest : description);
      const earlier = merged.get(key);
      if (earlier?.when?.path === kindPath && when !== undefined) earlier.when.equals.push(...when.equals);
      else merged.set(key, description);
    }
    return [...merged.values()];
  });
}

function describeLeaf(node: Node, place: Place): OptionDescription {
  const choices = choicesOf(node);
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = countOf(node) ?? node;
  return {
    path: place.path,
    flag: flagOf(place.path),
    type: choices === undefined ? typeOf(node) : 'choice',
    help: helpOf(node),
    default: place.default,
    unit: typeof node.unit === 'string' ? node.unit : undefined,
    choices,
    minimum: bound(minimum),
    maximum: bound(maximum),
    exclusiveMinimum: bound(exclusiveMinimum),
    exclusiveMaximum: bound(exclusiveMaximum),
    section: place.section,
  };
}

function typeOf(node: Node): OptionType {
  if (node.deviceSelection === true) return 'device-selection';
  if (countOf(node) !== null) return 'auto-or-count';
  switch (node.type) {
    case 'number':
    case 'integer':
    case 'boolean':
    case 'string':
      return node.type;
    default:
      return 'json';
  }
}

/** The whole number of a union of it and `auto`; null for any other schema. */
function countOf(node: Node): Node | null {
  const [auto, count, ...others] = node.anyOf ?? [];
  const isUnion = typeof auto === 'object' && auto.const === 'auto' && others.length === 0;
  return isUnion && typeof count === 'object' && count.type === 'integer' ? count : null;
}

/** Choices of an enumeration, a literal, or a union of string literals (each may have a help). */
function choicesOf(node: Node): OptionChoice[] | undefined {
  const variants = node.anyOf?.map((variant) => (typeof variant === 'boolean' ? {} : variant));
  const choices = variants
    ? variants.map((variant) => ({ value: variant.const, help: helpOf(variant) }))
    : (node.enum ?? (node.const === undefined ? [] : [node.const])).map((value) => ({ value, help: '' }));
  const named = choices.filter((choice): choice is OptionChoice => typeof choice.value === 'string');
  return named.length > 0 && named.length === choices.length ? named : undefined;
}

/** The variants of a union discriminated by `kind`, by kind; null for any other schema. */
function kindsOf(node: Node): Map<string, Node> | null {
  const variants = (node.oneOf ?? []).map((variant): [unknown, Node] => {
    if (typeof variant === 'boolean') return [undefined, {}];
    const kind = variant.properties?.kind;
    return [typeof kind === 'object' ? kind.const : undefined, variant];
  });
  const kinds = variants.filter((entry): entry is [string, Node] => typeof entry[0] === 'string');
  return kinds.length > 0 && kinds.length === variants.length ? new Map(kinds) : null;
}

function helpOf(node: Node | boolean | undefined): string {
  if (typeof node !== 'object') return '';
  return typeof node.help === 'string' ? node.help : (node.description ?? '');
}

/**
 * A bound of the option; undefined for the bounds that zod gives every integer, the range that a double holds exactly.
 */
function bound(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** `--learning-rate` for `learningRate`. */
export function flagOf(path: string): string {
  return `--${path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}
