import { tf, type LayersModel } from './tf.ts';

/** Architectures of models as texts, and models from them. Uses no files, so that it also runs in a browser. */

/** Classes that any process can build without the project. */
const ownClasses = new Set(Object.keys(tf.serialization.SerializationMap.getMap().classNameMap));

/**
 * A model's topology as JSON, with the same text for the same model. Layers that tfjs named after a counter of the
 * process (`dense_Dense7`) are numbered by their position in the model, which does not change their weights' names
 * (`weightNames`).
 */
export function topologyOf(model: LayersModel): string {
  const { class_name, config } = model.toJSON(null, false) as { class_name: unknown; config: unknown };
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { name, type } of automaticNames({ class_name, config })) {
    if (names.has(name)) continue;
    const index = counts.get(type) ?? 0;
    counts.set(type, index + 1);
    names.set(name, `${type}_${index}`);
  }
  return JSON.stringify({ class_name, config }, (_key, value: unknown) =>
    typeof value === 'string' ? (names.get(value) ?? value) : value,
  );
}

/** Whether an architecture has only classes of tfjs. Only the project can build others. */
export function isSelfContained(topology: string): boolean {
  return classNamesIn(JSON.parse(topology)).every((name) => ownClasses.has(name));
}

/** The classes of an architecture that this process has not registered, so that it cannot build them. */
export function unregisteredClasses(topology: string): string[] {
  const { classNameMap } = tf.serialization.SerializationMap.getMap();
  return [...new Set(classNamesIn(JSON.parse(topology)))].filter((name) => !Object.hasOwn(classNameMap, name));
}

/**
 * Builds a model from its architecture, with new weights.
 * @throws when the built model differs from the description
 */
export async function modelFromTopology(topology: string, source: string): Promise<LayersModel> {
  const model = await tf.models.modelFromJSON(JSON.parse(topology) as Parameters<typeof tf.models.modelFromJSON>[0]);
  const difference = describeDifference(topology, topologyOf(model));
  if (difference === null) return model;
  throw new Error(`The model of ${source} cannot be built from its description: ${difference}.`);
}

/** The first layer or setting in which two architectures differ; null where they are the same. */
export function describeDifference(expected: string, found: string): string | null {
  if (expected === found) return null;
  const [before, after] = [leavesOf(JSON.parse(expected)), leavesOf(JSON.parse(found))];
  const path = [...before.keys(), ...after.keys()].find((key) => before.get(key) !== after.get(key));
  if (path === undefined) return null;
  return `${path} is ${after.get(path) ?? 'absent'}, it was ${before.get(path) ?? 'absent'}`;
}

/**
 * The layer's type in snake case when its name was given by tfjs (`dense_Dense1`, `dense_1`), null when by the project.
 */
export function automaticName(name: string, className: string): string | null {
  // As tfjs-layers does it (`toSnakeCase` in utils/generic_utils): Conv2D is conv2d, BatchNormalization
  // batch_normalization.
  const snake = className
    .replace(/(.)([A-Z][a-z0-9]+)/g, '$1_$2')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
  const given = new RegExp(`^${snake}_(${className})?\\d+$`, 'i').test(name);
  return given ? snake : null;
}

/** The automatic names of all layers, nested ones included. */
function automaticNames(value: unknown): { name: string; type: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(automaticNames);
  const { class_name: className, config } = value as { class_name?: unknown; config?: { name?: unknown } };
  if (typeof className !== 'string' || typeof config?.name !== 'string') return inner;
  const { name } = config;
  const counted = /^(input|model|sequential|functional)_?\d+$/.exec(name)?.at(1);
  const type = automaticName(name, className) ?? counted;
  return type === undefined ? inner : [{ name, type }, ...inner];
}

/** Class names of layers, initializers, regularizers and all else that has a class. */
function classNamesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'class_name' in value && typeof value.class_name === 'string' ? [value.class_name] : [];
  return [...own, ...Object.values(value).flatMap(classNamesIn)];
}

function leavesOf(value: unknown, path = 'model'): Map<string, string> {
  // An embedding writes its type only if it was built from a description, although it is the usual one.
  if (path.endsWith('.dtype') && value === 'float32') return new Map();
  if (typeof value !== 'object' || value === null) return new Map([[path, JSON.stringify(value)]]);
  return new Map(Object.entries(value).flatMap(([key, child]) => [...leavesOf(child, `${path}.${key}`)]));
}
