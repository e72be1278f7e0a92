import { basename, join, resolve } from 'node:path';
import { createRunId } from '../../../hub/plan-run.ts';
import { submit } from '../../../nodes/slurm-commands.ts';
import { trainingScript } from '../../../nodes/job-script.ts';
import { type NodeRange, nodesText } from '../../../nodes/place.ts';
import { homePaths } from '../../../store/home.ts';
import { exitCodes, orUsageError, UsageError } from '../../errors.ts';

/** `--nodes 4`, `--nodes 2:4`, `--nodes 2:4:60`. @throws UsageError */
export function parseNodes(text: string): NodeRange {
  const found = /^(\d{1,5})(?::(\d{1,5})(?::(\d{1,5}))?)?$/.exec(text);
  const least = Number(found?.[1] ?? 0);
  const most = Number(found?.[2] ?? least);
  const waitMs = 1_000 * Number(found?.[3] ?? defaultWaitSeconds);
  if (found !== null && least >= 1 && most >= least) return { least, most, waitMs };
  throw new UsageError(
    `--nodes "${text}": it must be a number of nodes, or the least and the most (2:4), and the seconds to wait ` +
      'for more than the least (2:4:60).',
  );
}

/** How long nodes that are late hold up the others once enough are there. */
const defaultWaitSeconds = 30;

/** The value of `--nodes` before the command's options are known. Null where it is absent. @throws UsageError */
export function nodesOf(args: readonly string[]): NodeRange | null {
  const index = args.findIndex((arg) => arg === '--nodes' || arg.startsWith('--nodes='));
  if (index === -1) return null;
  return parseNodes(
    args[index].startsWith('--nodes=') ? args[index].slice('--nodes='.length) : (args[index + 1] ?? ''),
  );
}

export interface JobOptions {
  out?: string | undefined;
  name?: string | undefined;
  /** Further options of `sbatch`, separated by spaces. */
  sbatch?: string | undefined;
  /** Whether the script is printed and not submitted. */
  dryRun?: boolean | undefined;
  json?: boolean | undefined;
}

/** Submits a run as a job of SLURM. @param args of `tutti train` after the project @returns the exit code */
export async function trainInJob(
  projectFolder: string,
  args: readonly string[],
  nodes: NodeRange,
  { out, name, sbatch = '', dryRun = false, json = false }: JobOptions,
): Promise<number> {
  const folder = resolve(out ?? join(homePaths().runs, createRunId(projectFolder)));
  const train = ['train', resolve(projectFolder), ...withoutJobOptions(args), '--out', folder];
  const script = trainingScript({
    name: name ?? `tutti-${basename(resolve(projectFolder))}`,
    nodes,
    folder,
    tutti: ownCommand(),
    train: [...train, '--nodes', nodesText(nodes)],
    options: wordsOf(sbatch),
  });
  if (dryRun) process.stdout.write(script);
  else {
    const job = await orUsageError(submit(script));
    process.stdout.write(
      json ? `${JSON.stringify({ type: 'submitted', job, folder })}\n` : `Job ${job} trains into ${folder}.\n`,
    );
  }
  return exitCodes.finished;
}

/** Options of `sbatch` in one text. */
export function wordsOf(sbatch: string): string[] {
  return sbatch.split(/\s+/).filter((word) => word !== '');
}

/** This Tutti as a job starts it: without npx, which would not pass SLURM's signals on. */
export function ownCommand(): string[] {
  return [process.execPath, ...process.execArgv, resolve(process.argv[1])];
}

const jobOptions = ['--nodes', '--sbatch', '--out', '-o'];

/** The arguments that the tasks of the job get too. */
export function withoutJobOptions(args: readonly string[]): string[] {
  return args.filter((arg, i) => {
    const isValue = i > 0 && jobOptions.includes(args[i - 1]);
    const isOption = jobOptions.includes(arg) || jobOptions.some((option) => arg.startsWith(`${option}=`));
    return !isValue && !isOption && arg !== '--dry-run';
  });
}
