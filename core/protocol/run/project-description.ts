import type { OptionDescription } from '../../options/index.ts';
import type { RunConfigInput } from './config.ts';

/** What a project tells of itself without training: for help texts, forms, and to check a configuration against. */
export interface ProjectDescription {
  name: string;
  description: string;
  task: string;
  /** Whether it has a loss of its own instead of the task's. */
  hasOwnLoss: boolean;
  /** Its hyperparameters, described as the run configuration's own options are. */
  hyperparameters: OptionDescription[];
  /** What it prefers to the general defaults. */
  defaults: RunConfigInput;
}

/** The answer of the process that describes a project. */
export type DescribeReply =
  { type: 'described'; description: ProjectDescription } | { type: 'failed'; message: string; stack: string };
