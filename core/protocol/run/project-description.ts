import type { OwnMetric } from '../../metrics/registry/metric.ts';
import type { OptionDescription } from '../../options/index.ts';
import type { SearchSpace } from '../../studies/space/schema.ts';
import type { Permissions } from './permissions.ts';
import type { RunConfigInput } from './config.ts';
import type { FurtherOutput } from '../../ensemble/predictions.ts';

/** The file with a project's code, the first of these that its folder holds. */
export const projectEntries = ['project.ts', 'project.mts', 'project.cts', 'project.mjs', 'project.js', 'project.cjs'];

/**
 * A project's description of itself, available without training: for help texts, forms and checks of configurations.
 */
export interface ProjectDescription {
  name: string;
  description: string;
  task: string;
  /** Whether it replaces the task's loss. */
  hasOwnLoss: boolean;
  /** Its own metrics; absent: it has none. */
  metrics?: OwnMetric[] | undefined;
  /** What its model's further outputs learn; absent: it has none. */
  outputs?: FurtherOutput[] | undefined;
  /** Levels of the quantiles of a quantile regression; absent for other tasks. */
  quantiles?: number[] | undefined;
  /** Its hyperparameters, in the same form as the options of the run configuration. */
  hyperparameters: OptionDescription[];
  /** Its changes to the general defaults. */
  defaults: RunConfigInput;
  /**
   * What `tutti search` tries, by path of the option or name of the hyperparameter; absent: nothing that the project
   * names.
   */
  search?: SearchSpace | undefined;
  /** What it asks for beyond what every project gets. */
  permissions: Permissions;
}

/** The reply of the process that describes a project. */
export type DescribeReply =
  { type: 'described'; description: ProjectDescription } | { type: 'failed'; message: string; stack: string };
