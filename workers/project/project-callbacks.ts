import type { z } from 'zod';
import type { Callback } from '../callbacks/callback.ts';
import { ObservingCallback, type ProjectCallback } from '../callbacks/project-callback.ts';
import { Generator, installAsMathRandom } from '../random/index.ts';
import type { CallbackContext, HyperparameterSchema, Project } from './define-project.ts';

type Context = CallbackContext<z.output<HyperparameterSchema>>;

/**
 * A rank's callbacks of the project, to be called after the run's own.
 * @param seed of the rank
 * @throws what `callbacks()` throws, and where names are none or taken
 */
export function projectCallbacks(project: Project, context: Context, seed: number): Callback[] {
  const observers = observersOf(project, context, seed).map((observer) => new ObservingCallback(observer, seed));
  const names = observers.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return observers;
  throw new Error(`The project has two callbacks of the name "${twice.replace(/^project:/, '')}". Give each its own.`);
}

/** Numbers that are drawn on the way are of a stream of their own: the rank's would go on elsewhere after them. */
function observersOf(project: Project, context: Context, seed: number): ProjectCallback[] {
  const restore = installAsMathRandom(new Generator(seed, 'project-callbacks'));
  try {
    return project.callbacks?.(context) ?? [];
  } finally {
    restore();
  }
}
