import { mergeConfig, type OptionDescription, type PlainObject, setPath } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import { repeatedSeed } from '../../../core/protocol/run/sweep/sweep.ts';
import type { Part } from '../../../core/protocol/studies/study-line.ts';
import type { Study } from '../../../core/protocol/studies/study.ts';
import type { Assignment } from '../../../core/search/space/space.ts';

/** Values by path as a layer of the configuration: a project's hyperparameter stands there under `hyperparameters`. */
export function layerOf(values: Assignment, hyperparameters: readonly Pick<OptionDescription, 'path'>[]): PlainObject {
  return Object.entries(values).reduce<PlainObject>((layer, [path, value]) => {
    const isOwn = hyperparameters.some((own) => own.path === path);
    return setPath(layer, isOwn ? `hyperparameters.${path}` : path, value);
  }, {});
}

/** The changes to the project's defaults with which a part of a trial trains. @param baseSeed of the study's first seed */
export function overridesOf(
  study: Study,
  { hyperparameters }: Pick<ProjectDescription, 'hyperparameters'>,
  { values, part, baseSeed }: { values: Assignment; part: Part; baseSeed: number },
): PlainObject {
  const split = study.splits.at(part.split) ?? {};
  return [layerOf(values, hyperparameters), layerOf(split, hyperparameters)].reduce(
    (merged, layer) => mergeConfig(merged, layer),
    { ...study.overrides, seed: repeatedSeed(baseSeed, part.seed) },
  );
}

/** Why rungs cannot count the members of a trial whose ranks all train one model. */
export function oneModelMessage(strategy: string): string {
  return (
    `With the strategy ${strategy} all ranks of a trial train one model, so rungs cannot count its members. ` +
    'Use --resource epochs, or the strategy independent.'
  );
}
