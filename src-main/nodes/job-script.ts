import { quote } from '../../core/text/printable.ts';
import { type NodeRange, nodesText } from './place.ts';

/** A run as a job of SLURM. */
export interface TrainingJob {
  name: string;
  nodes: NodeRange;
  /** The run's folder. */
  folder: string;
  /** The program of Tutti, with its arguments up to the command. */
  tutti: readonly string[];
  /** `train <project> ...`, which creates the folder. */
  train: readonly string[];
  /** Further options of `sbatch`, such as `--partition=gpu`. */
  options: readonly string[];
}

/** Seconds before the time limit at which SLURM tells the tasks, so that they stop jointly and save. */
const warnBeforeSeconds = 120;

/**
 * The script for `sbatch`: one task a node, of which the first has the hub. Before its time limit the run stops with
 * its state and asks to be requeued; the script then resumes it, as it does after a node was lost with the whole job.
 */
export function trainingScript({ name, nodes, folder, tutti, train, options }: TrainingJob): string {
  const range = nodes.least === nodes.most ? `${nodes.most}` : `${nodes.least}-${nodes.most}`;
  const step = ['srun', '--ntasks-per-node=1', '--no-kill', '--kill-on-bad-exit=0', ...tutti];
  const resume = quote([...step, 'resume', folder, '--nodes', nodesText(nodes)]);
  return script(
    [
      `--job-name=${inQuotes(name)}`,
      `--nodes=${range}`,
      '--ntasks-per-node=1',
      `--signal=USR1@${warnBeforeSeconds}`,
      '--requeue',
      '--open-mode=append',
      `--output=${inQuotes(`${folder}.slurm.log`)}`,
      ...options,
    ],
    [
      `if [ -f ${quote([`${folder}/run.json`])} ]; then`,
      `  exec ${resume}`,
      'fi',
      `exec ${quote([...step, ...train])}`,
    ],
  );
}

/** Processes that work on a study together, each as a task of an array of jobs. */
export interface StudyArray {
  name: string;
  tasks: number;
  /** The study's folder. */
  folder: string;
  /** The program of Tutti, with its arguments up to the command. */
  tutti: readonly string[];
  /** `search --study ...`, which each task runs. */
  search: readonly string[];
  /** Further options of `sbatch`. */
  options: readonly string[];
}

/**
 * The script of an array of jobs for `sbatch`. Before its time limit a task stops its trials with their states and asks
 * to be requeued; if it is requeued, or never comes back, the trials continue in whichever task is free.
 */
export function studyScript({ name, tasks, folder, tutti, search, options }: StudyArray): string {
  return script(
    [
      `--job-name=${inQuotes(name)}`,
      `--array=0-${tasks - 1}`,
      '--nodes=1',
      '--ntasks=1',
      `--signal=USR1@${warnBeforeSeconds}`,
      '--requeue',
      '--open-mode=append',
      `--output=${inQuotes(`${folder}/slurm-%a.log`)}`,
      ...options,
    ],
    [`exec ${quote(['srun', '--ntasks=1', ...tutti, ...search])}`],
  );
}

/** Since SLURM 22.05 a step does not inherit the number of cores of its job. */
const inheritCores = '[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK';

function script(options: readonly string[], lines: readonly string[]): string {
  return ['#!/bin/bash', ...options.map((option) => `#SBATCH ${option}`), inheritCores, ...lines, ''].join('\n');
}

/**
 * SLURM reads the options of a script word by word, ends them at a line's end or `#`, and takes what follows a
 * backslash as it is.
 */
function inQuotes(text: string): string {
  const line = text.replaceAll(/[\r\n]+/g, ' ');
  return /^[\w@%+=:,./-]+$/.test(line) ? line : `"${line.replaceAll(/["\\]/g, '\\$&')}"`;
}
