import { quote } from '../../../core/text/shell-words.ts';
import { type NodeRange, nodesText } from '../node-range.ts';

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
 * The script for `sbatch`: one task a node, of which the first has the hub. Before its time limit the run stops with its state and asks to be requeued; the
 * script then resumes it, as it does after a node was lost with the whole job.
 */
export function trainingScript({ name, nodes, folder, tutti, train, options }: TrainingJob): string {
  const range = nodes.least === nodes.most ? `${nodes.most}` : `${nodes.least}-${nodes.most}`;
  const step = ['srun', '--ntasks-per-node=1', '--no-kill', '--kill-on-bad-exit=0', ...tutti];
  const resume = quote([...step, 'resume', folder, '--nodes', nodesText(nodes)]);
  return script(
    [
      `--job-name=${name}`,
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

function script(options: readonly string[], lines: readonly string[]): string {
  return ['#!/bin/bash', ...options.map((option) => `#SBATCH ${option}`), ...lines, ''].join('\n');
}

/** SLURM reads the options of a script word by word. */
function inQuotes(path: string): string {
  return path.includes(' ') ? `"${path}"` : path;
}
