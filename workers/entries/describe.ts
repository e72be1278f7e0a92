import { flushCompileCache } from 'node:module';
import { describeOptions } from '../../core/options/index.ts';
import type { DescribeReply, ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { searchSpaceSchema } from '../../core/studies/space/schema.ts';
import { permissionsSchema } from '../../core/protocol/run/permissions.ts';
import { usualQuantiles } from '../../core/metrics/registry/metric.ts';
import { describeMetrics } from '../member/tasks/own-metrics.ts';
import { describeOutputs } from '../member/tasks/further-outputs.ts';
import { loadProject } from '../project/load-project.ts';
import { explainError, stackOf } from '../project/explain-error.ts';
import { replyToHub, tellHub } from '../session/hub-link.ts';

/** Entry of the process that describes a project to the hub. The hub never loads a project's code. */

async function describe(folder: string): Promise<ProjectDescription> {
  tellHub({ type: 'progress', doing: 'importing the project and its modules' });
  const project = await loadProject(folder);
  tellHub({ type: 'progress', doing: 'describing its options' });
  const { name, description, task, hyperparameters, defaults, permissions, search } = project;
  return {
    name,
    description,
    task,
    hasOwnLoss: project.loss !== undefined,
    metrics: describeMetrics(project.metrics),
    ...(project.outputs && { outputs: describeOutputs(project.outputs) }),
    ...(task === 'quantile-regression' && { quantiles: [...(project.quantiles ?? usualQuantiles)] }),
    hyperparameters: describeOptions(hyperparameters),
    defaults: defaults ?? {},
    ...(search && { search: searchSpaceSchema.parse(search) }),
    permissions: permissionsSchema.parse(permissions ?? {}),
  };
}

const reply: (message: DescribeReply) => void = replyToHub;

try {
  const description = await describe(process.argv[2]);
  // The hub kills this process once it has the answer. Workers, which load the same modules, then need not compile
  // them.
  flushCompileCache();
  reply({ type: 'described', description });
} catch (error) {
  reply({ type: 'failed', message: explainError(error, process.argv[2]), stack: stackOf(error) });
}
