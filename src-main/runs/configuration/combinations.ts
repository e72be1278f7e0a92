import type { Placement } from '../../../core/protocol/machine/devices.ts';
import type { ConfigProblem } from '../../../core/options/index.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunConfig } from '../../../core/protocol/run/config.ts';
import { mayResize, stagesOf } from '../../../core/protocol/run/strategies/ranks-and-members.ts';
import {
  lockstepReason,
  mayShrink,
  splitsLayers,
  strategyRules,
} from '../../../core/protocol/run/strategies/strategy-rules.ts';
import { askedPerWorker } from '../../../core/protocol/run/workers.ts';
import { conflictsOfMetrics } from './metric-combinations.ts';
import { conflictsOfData } from './data-combinations.ts';
import { conflictsOfHdet } from './hdet-combinations.ts';
import { conflictsOfShards, conflictsOfStatePrecision } from './memory-combinations.ts';

/** The facts of a project that decide which options it excludes. */
export type Combined = Pick<ProjectDescription, 'task' | 'hasOwnLoss' | 'metrics'>;

/** @throws Error with the reason and the remedy if options exclude each other or the project */
export function refuseCombinations(config: RunConfig, plan: readonly Placement[], project: Combined): void {
  const [conflict] = findConflicts(config, plan, project);
  if (conflict !== undefined) throw new Error(conflict.message);
}

/** The conflicts between options, and between options and the project, each with the reason and the remedy. */
export function findConflicts(config: RunConfig, plan: readonly Placement[], project: Combined): ConfigProblem[] {
  const waves = 1 + Math.max(...plan.map(({ wave }) => wave));
  return [
    ...conflictsOfMetrics(config, project),
    ...conflictsOfJointStopping(config, waves),
    ...conflictsOfLockstep(config, waves),
    ...conflictsOfMemberLoss(config),
    ...conflictsOfMpi(config, waves),
    ...conflictsOfSampler(config),
    ...conflictsOfStacks(config),
    ...conflictsOfData(config),
    ...conflictsOfDeterminism(config),
    ...conflictsOfThreads(config),
    ...conflictsOfProject(config, project),
    ...conflictsOfLoss(config, project),
    ...conflictsOfHdet(config, project.hasOwnLoss),
    ...conflictsOfWarmStart(config),
    ...conflictsOfShards(config),
    ...conflictsOfStages(config),
    ...conflictsOfStatePrecision(config),
  ];
}

function conflictsOfJointStopping({ earlyStopping, members: ranks }: RunConfig, waves: number): ConfigProblem[] {
  if (!earlyStopping.enabled || !earlyStopping.joint) return [];
  const conflicts: ConfigProblem[] = [];
  if (earlyStopping.monitor.includes('{rank}')) {
    const message =
      `Joint early stopping cannot monitor "${earlyStopping.monitor}": it differs from rank to rank. Monitor a ` +
      'metric of the ensemble, such as val/ens_nll, or let each rank stop independently with ' +
      '--early-stopping.joint false.';
    conflicts.push({ path: 'earlyStopping.monitor', message });
  }
  if (waves > 1) {
    const message =
      `Joint early stopping needs all ${ranks} ranks to train at the same time, but this plan has ${waves} waves. ` +
      'Use --placement share, fewer ranks (--members), or --early-stopping.joint false.';
    conflicts.push({ path: 'earlyStopping.joint', message });
  }
  return conflicts;
}

function conflictsOfWarmStart({ warmStart: { checkpoint, noise } }: RunConfig): ConfigProblem[] {
  if (checkpoint !== '' && !checkpoint.endsWith('.safetensors')) {
    const message =
      `warmStart.checkpoint is "${checkpoint}", which is no checkpoint. Name a .safetensors file of a run's ` +
      'checkpoints folder.';
    return [{ path: 'warmStart.checkpoint', message }];
  }
  if (noise === 0 || checkpoint !== '') return [];
  const message =
    `--warm-start.noise ${noise} needs the weights of a warm start. Name a checkpoint with ` +
    '--warm-start.checkpoint, or leave it at 0.';
  return [{ path: 'warmStart.noise', message }];
}

/** An ensemble of pipelined members has as many ranks for each. */
function conflictsOfStages(config: RunConfig): ConfigProblem[] {
  const { members: ranks, strategy } = config;
  if (!splitsLayers(strategy)) return [];
  const stages = stagesOf(config);
  const { cuts } = strategy;
  if (ranks % stages === 0) {
    if (cuts.length === 0 || cuts.length === stages - 1) return [];
    const message =
      `strategy.cuts names ${cuts.length} layer(s), and ${stages} ranks that share a model need ${stages - 1}: the ` +
      'first layer of each rank but the first. Name as many, or none: Tutti then measures where to cut.';
    return [{ path: 'strategy.cuts', message }];
  }
  const less = Math.floor(ranks / stages) * stages;
  const message =
    `${ranks} ranks cannot be shared by models of ${stages} stages each. Use --members ` +
    `${less === 0 ? stages : `${less} or ${less + stages}`}, or --strategy.stages 0 for one model on all ranks.`;
  return [{ path: 'strategy.stages', message }];
}

/** Ranks that exchange data at every step all need each other. */
function conflictsOfLockstep(config: RunConfig, waves: number): ConfigProblem[] {
  const { strategy, earlyStopping, members: ranks } = config;
  const reason = lockstepReason(config);
  if (reason === null) return [];
  const conflicts: ConfigProblem[] = [];
  if (waves > 1 && strategyRules[strategy.kind].isLockstep) {
    const message =
      `With the strategy ${strategy.kind} all ${ranks} ranks train at the same time, but this plan has ${waves} ` +
      'waves. Use --placement share or fewer ranks (--members).';
    conflicts.push({ path: 'placement', message });
  }
  if (earlyStopping.enabled && !earlyStopping.joint) {
    const message =
      `With ${reason} no rank can stop before the others, which need it at every step. ` +
      'Use --early-stopping.joint true.';
    conflicts.push({ path: 'earlyStopping.joint', message });
  }
  return conflicts;
}

/** Members can only be lost one by one where no other needs them. */
function conflictsOfMemberLoss(config: RunConfig): ConfigProblem[] {
  const reason = lockstepReason(config);
  const { onMemberLoss, strategy } = config;
  if (onMemberLoss.kind === 'restart' && onMemberLoss.worldSize === 'devices' && !mayResize(config)) {
    const message =
      `With the strategy ${strategy.kind} no other rank can take over the part of one, so the number of ranks ` +
      'cannot change. Use --on-member-loss.world-size fixed, or the strategy data-parallel or sharded.';
    return [{ path: 'onMemberLoss.worldSize', message }];
  }
  if (onMemberLoss.kind !== 'continue' || reason === null) return [];
  const message =
    `With ${reason} every step needs all ranks, so the run cannot continue without a lost member. Use ` +
    '--on-member-loss restart or stop.';
  return [{ path: 'onMemberLoss.kind', message }];
}

/** All ranks of a job of MPI are there from its beginning to its end. */
function conflictsOfMpi(config: RunConfig, waves: number): ConfigProblem[] {
  if (config.collectives !== 'mpi') return [];
  const message = mayShrink(config)
    ? 'By MPI a run cannot continue without a lost member. Use --on-member-loss restart or stop, or --collectives auto.'
    : askedPerWorker(config) > 1
      ? 'By MPI each rank is a process. Use --members-per-device 1, or --collectives auto.'
      : waves > 1
        ? `By MPI all ranks train at the same time, and this plan has ${waves} waves. Use --placement share, or ` +
          '--collectives auto.'
        : null;
  return message === null ? [] : [{ path: 'collectives', message }];
}

/** Only Tutti's own kernels round the same on every processor. */
function conflictsOfThreads({ threads, backend }: RunConfig): ConfigProblem[] {
  if (threads === 'auto' || threads === 1 || backend === 'auto' || backend === 'wasm') return [];
  const message =
    `--threads ${threads} has no effect on the backend ${backend}, which has threads of its own or none. Leave it ` +
    'out, or train with --backend wasm.';
  return [{ path: 'threads', message }];
}

function conflictsOfDeterminism({ determinism, blas, backend }: RunConfig): ConfigProblem[] {
  if (determinism === 'relaxed') return [];
  const isOther = backend === 'tensorflow' || backend === 'webgpu';
  const other = blas === 'on' ? '--blas on' : isOther ? `--backend ${backend}` : null;
  if (other === null) return [];
  const message =
    `With ${other} results differ in their last bits from machine to machine. Omit it, train on --devices cpu, or ` +
    'use --determinism relaxed.';
  return [{ path: 'determinism', message }];
}

/** Ranks that wait for each other in a step each need a separate process. */
function conflictsOfStacks(config: RunConfig): ConfigProblem[] {
  const { activationCheckpointing } = config;
  const membersPerDevice = askedPerWorker(config);
  const reason = lockstepReason(config);
  if (membersPerDevice > 1 && activationCheckpointing !== 'none') {
    const message =
      `A worker that trains ${membersPerDevice} members as one computation keeps all activations. Use ` +
      '--members-per-device 1 or --activation-checkpointing none.';
    return [{ path: 'activationCheckpointing', message }];
  }
  if (membersPerDevice === 1 || reason === null) return [];
  const message =
    `With ${reason} each rank has a separate worker, so ${membersPerDevice} members cannot be one computation. Use ` +
    '--members-per-device 1.';
  return [{ path: 'membersPerDevice', message }];
}

function conflictsOfSampler({ strategy, sampler }: RunConfig): ConfigProblem[] {
  const { samplers } = strategyRules[strategy.kind];
  if (sampler === 'auto' || samplers.includes(sampler)) return [];
  const message =
    `The strategy ${strategy.kind} cannot train with --sampler ${sampler}: it needs ${samplers.join(' or ')}. ` +
    `Leave it at auto, which takes ${samplers[0]}.`;
  return [{ path: 'sampler', message }];
}

function conflictsOfProject({ strategy }: RunConfig, { task, hasOwnLoss }: Combined): ConfigProblem[] {
  const { tasks, whyNotOthers, ownLoss } = strategyRules[strategy.kind];
  const conflicts: ConfigProblem[] = [];
  if (tasks !== null && !tasks.includes(task)) {
    const message =
      `The strategy ${strategy.kind} trains ${tasks.join(', ')} only, and this project's task is ${task}: ` +
      `${whyNotOthers}. Use another strategy.`;
    conflicts.push({ path: 'strategy.kind', message });
  }
  if (!ownLoss && hasOwnLoss) {
    const message =
      `The strategy ${strategy.kind} has its own loss, and so has this project. Use another strategy, or the ` +
      "task's loss.";
    conflicts.push({ path: 'strategy.kind', message });
  }
  return conflicts;
}

const softenedTasks = ['classification', 'binary', 'multi-label', 'ordinal'];

/** Label smoothing and temperature only apply to losses of tasks with classes. */
function conflictsOfLoss({ loss }: RunConfig, { task, hasOwnLoss }: Combined): ConfigProblem[] {
  const isSoftened = loss.labelSmoothing !== 0 || loss.temperature !== 1;
  if (!isSoftened || (softenedTasks.includes(task) && !hasOwnLoss)) return [];
  const message =
    `Label smoothing ${loss.labelSmoothing} and temperature ${loss.temperature} change the loss of a task with ` +
    'classes, which this run does not use. Leave them at 0 and 1.';
  return [{ path: 'loss', message }];
}
