import type { z } from 'zod';
import type { Callback } from '../callbacks/callback.ts';
import { ObservingCallback, type ProjectCallback } from '../callbacks/project-callback.ts';
import { Generator, installAsMathRandom } from '../random/index.ts';
import type { CallbackContext, HyperparameterSchema, Project } from './define-project.ts';

type Context = CallbackContext<z.output<HyperparameterSchema>>;

/**
 * The project's callbacks for a rank, which run after the run's callbacks.
 * @param seed the rank's seed
 * @param explain describes an error of the project's code
 * @throws the error of `callbacks()`, or one for an invalid or repeated name
 */
export function projectCallbacks(
  project: Project,
  context: Context,
  seed: number,
  explain: (error: unknown) => string,
): Callback[] {
  const observers = observersOf(project, context, seed).map(
    (observer) => new ObservingCallback(observer, seed, explain),
  );
  const names = observers.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return observers;
  throw new Error(
    `The project has two callbacks named "${twice.replace(/^project:/, '')}". Give them different names.`,
  );
}

/** `callbacks()` draws from a separate random stream, so that it does not shift the rank's. */
function observersOf(project: Project, context: Context, seed: number): ProjectCallback[] {
  const restore = installAsMathRandom(new Generator(seed, 'project-callbacks'));
  try {
    return project.callbacks?.(context) ?? [];
  } finally {
    restore();
  }
}
