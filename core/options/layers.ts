export type PlainObject = { [key: string]: unknown };

/**
 * Lays one partial configuration over another, without changing either: schema < project < configuration file < flags.
 * Objects merge member by member, anything else replaces, undefined leaves what is there. Where `kind` changes, the
 * members of the lower layer's kind go: momentum of `sgd` means nothing to `adam`.
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

/** A copy of the object with the value at a dotted path, `optimizer.learningRate`; objects on the way are made. */
export function setPath(object: PlainObject, path: string, value: unknown): PlainObject {
  const [key, ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [key]: value };
  const below = Object.hasOwn(object, key) ? object[key] : undefined;
  return { ...object, [key]: setPath(isPlainObject(below) ? below : {}, rest.join('.'), value) };
}

/** The value at a dotted path or a list of keys; undefined where the way ends early. */
export function getPath(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((so, key) => {
    if (typeof so !== 'object' || so === null || !Object.hasOwn(so, key)) return undefined;
    return Object.getOwnPropertyDescriptor(so, key)?.value;
  }, value);
}

function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
