import { type Command, Option } from 'commander';
import type { SearchOptions } from '../commands/studies/search-options.ts';
import type { StudiesOptions } from '../commands/studies/studies.ts';
import { collect, exitWith, projectFolder } from './common.ts';

/** Commands that search hyperparameters. */
export function addStudies(program: Command): void {
  addSearch(program);
  program
    .command('studies')
    .description('list studies, the newest first, or the trials of one')
    .argument('[study]', 'a study by its id or name')
    .option('--journal <file>', 'write the study as an Optuna journal')
    .option('-j, --json', 'print one JSON object per line')
    .action(
      exitWith(async (study: string | undefined, options: StudiesOptions) =>
        (await import('../commands/studies/studies.ts')).studies(study, options),
      ),
    );
}

function addSearch(program: Command): void {
  const command = program
    .command('search')
    .description('search the hyperparameters of a project, or continue a study')
    .argument('[project]', 'a folder with a project.ts', projectFolder)
    .option('--trials <n>', 'trials of the study (default: 50)')
    .option(
      '--search <parameter>',
      "what to try, such as weightDecay=log(1e-5,30) (repeatable; default: the project's search)",
      collect,
      [],
    )
    .option(
      '--objective <objective>',
      'ensemble, mean-member, or one with a metric: ensemble:acc (repeatable)',
      collect,
      [],
    )
    .option('--sampler <sampler>', 'tpe, gp, random, quasi-random or grid(points) (default: tpe)')
    .option(
      '--pruner <pruner>',
      'none, median, wilcoxon, asha(1,81,3), halving(...) or hyperband(...) (default: none)',
    );
  addJudging(command);
  addRunning(command).action(
    exitWith(async (project: string | undefined, options: SearchOptions) =>
      (await import('../commands/studies/search.ts')).search(project, options),
    ),
  );
}

/** Options that decide which trial is the best, and how many run. */
function addJudging(command: Command): Command {
  return command
    .addOption(new Option('--resource <resource>', 'what rungs count').choices(['epochs', 'members']))
    .addOption(new Option('--evaluation <which>', 'the evaluation of a run that counts').choices(['best', 'last']))
    .option('--splits <splits>', 'folds of a cross-validation, or values of an option: split=0,1,2', collect, [])
    .option('--seeds <n>', 'base seeds with which each trial runs (default: 1)')
    .addOption(new Option('--repeat <n>', 'the same as --seeds').conflicts('seeds'))
    .option('--parallel <n>', 'trials under way at a time, on all machines together (default: the devices, at most 8)')
    .option('--parallel-here <n>', 'of these, at most so many in this process (default: all)')
    .option('--array <tasks>', 'submit an array of so many jobs of SLURM that share the trials')
    .option('--sbatch <options>', 'with --array: further options of sbatch, such as "--gpus=1 --time=8:00:00"')
    .option('--dry-run', 'with --array: create the study, and print the script instead of submitting it')
    .option(
      '--trials-per-worker <n>',
      'trials that train in one process, as one computation where their models are alike (default: 1)',
    )
    .option('--minimum-improvement <value>', 'by how much a trial must beat the best one (default: 0)')
    .option('--search-seed <seed>', 'seed of the sampler (default: 0)');
}

/** Options of the runs and of the command. */
function addRunning(command: Command): Command {
  return command
    .option('-m, --members <n>', 'members of each ensemble')
    .option('-e, --max-epochs <epochs>', 'epochs of a whole trial')
    .option('--set <path=value>', 'set any option of the runs (repeatable)', collect, [])
    .option('-n, --name <text>', "name of the study; by default the project's")
    .option('--study <study>', 'continue a study, by its id or name; --trials is then the number that it is to have')
    .option(
      '--import <journal>',
      'create a study with the space and the trials of an Optuna journal, and do not begin it',
    )
    .option('--trust', "trust the project's folder from now on, without a question")
    .option('-j, --json', 'print one JSON object per line')
    .option('-q, --quiet', 'print no progress, only the best configuration');
}
