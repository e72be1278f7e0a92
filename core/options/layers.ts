export type PlainObject = { [key: string]: unknown };

/**
 * Merges a partial configuration over another, without changing either: schema < project < configuration file < flags.
 * Objects merge member by member, other values replace, undefined has no effect. If `kind` changes, the members of the
 * lower layer's kind are dropped: `adam` has no momentum of `sgd`.
 */
export function mergeConfig(base: PlainObject, override: PlainObject): PlainObject {
  const changesKind = base.kind !== undefined && override.kind !== undefined && base.kind !== override.kind;
  const merged = new Map(changesKind ? [] : Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    if (value !== undefined) merged.set(key, mergeValue(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

function mergeValue(below: unknown, above: unknown): unknown {
  return isPlainObject(below) && isPlainObject(above) ? mergeConfig(below, above) : above;
}

/** A copy of the object with the value at a dotted path such as `optimizer.learningRate`; creates missing objects. */
export function setPath(object: PlainObject, path: string, value: unknown): PlainObject {
  const [key, ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [key]: value };
  const below = Object.hasOwn(object, key) ? object[key] : undefined;
  return { ...object, [key]: setPath(isPlainObject(below) ? below : {}, rest.join('.'), value) };
}

/** The value at a path given as a list of keys; undefined if part of the path is missing. */
export function getPath(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((so, key) => {
    if (typeof so !== 'object' || so === null || !Object.hasOwn(so, key)) return undefined;
    return Object.getOwnPropertyDescriptor(so, key)?.value;
  }, value);
}

function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
