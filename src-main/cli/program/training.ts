import { type Command, Option } from 'commander';
import type { ForkOptions } from '../commands/history/fork.ts';
import type { ResumeOptions } from '../commands/resume.ts';
import { collect, exitWith, projectFolder, theRun } from './common.ts';

/** Commands that start or continue a run. */
export function addTraining(program: Command): void {
  program
    .command('train')
    .description('train a project; `tutti train <project> --help` lists the options')
    .usage('<project> [options]')
    // The options depend on the project.
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .argument('[project]', '', projectFolder)
    .argument('[options...]')
    .action(
      exitWith(async (project: string | undefined, args: string[]) =>
        (await import('../commands/training/train.ts')).train(project, args),
      ),
    );
  addResuming(program);
  addFork(program);
}

function addResuming(program: Command): void {
  const command = program
    .command('resume')
    .description('resume a run from its newest saved state, or train the runs of a sweep that have not finished')
    .argument(...theRun)
    .option('--rank <rank>', 'complete only this missing member, up to where the others ended')
    .option('--parallel <runs>', 'of a sweep: runs that train at a time, which share the devices (default: 1)')
    .option(
      '--nodes <nodes>',
      'in a launch on several nodes: the least and the most with which it trains, such as 2:4',
    );
  addContinuing(command).action(
    exitWith(async (run: string, options: ResumeOptions) =>
      (await import('../commands/resume.ts')).resume(run, options),
    ),
  );
}

function addFork(program: Command): void {
  const command = program
    .command('fork')
    .description('start a new run from a saved state or checkpoint of a run, which stays unchanged')
    .argument(...theRun)
    .option('--at <point>', 'an epoch, or a point that `tutti show <run>` lists')
    .option('--best', "at the ensemble's best checkpoint")
    .option('--last', 'at the newest state (default)')
    .option('-n, --name <text>', "name of the fork; by default the run's with (fork)")
    .option('-o, --out <folder>', "the fork's folder; by default a new one in Tutti's home");
  addContinuing(command).action(
    exitWith(async (run: string, options: ForkOptions) =>
      (await import('../commands/history/fork.ts')).fork(run, options),
    ),
  );
}

/** The options of commands that train on from an earlier run. */
function addContinuing(command: Command): Command {
  return command
    .option('-e, --max-epochs <epochs>', 'train up to this number of epochs')
    .addOption(new Option('--epochs <epochs>').hideHelp())
    .option('--set <path=value>', 'change an option, such as optimizer.learningRate=0.001 (repeatable)', collect, [])
    .option('--current-source', "train with the project's present code, although it has changed")
    .option('--trust', "trust the project's folder from now on, without a question")
    .option('-d, --detach', 'train without this terminal: return once all ranks are ready')
    .option('-j, --json', 'print one JSON object per line')
    .option('-q, --quiet', 'print no progress, only how the run ended');
}
