import { Command } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { reportError, exitCodes } from './cli/errors.ts';
import { guardOutputs } from './cli/outputs.ts';
import { followLauncher } from './processes/launcher-guard.ts';
import { protectTerminal } from './processes/terminal.ts';
import type { CreateOptions } from './cli/commands/create.ts';
import type { StopOptions } from './cli/commands/control.ts';
import type { ExportArguments } from './cli/commands/export.ts';
import type { ForkOptions } from './cli/commands/history/fork.ts';
import type { RunsOptions } from './cli/commands/runs.ts';
import type { WatchOptions } from './cli/commands/watch-run.ts';
import type { ResumeOptions } from './cli/commands/resume.ts';
import type { SetupOptions } from './cli/commands/setup.ts';
import type { TrustOptions } from './cli/commands/trust.ts';

/** The command `tutti`. Each command's code is loaded when the command runs, so that help appears at once. */

const epilogue = `
Examples:
  tutti create my-ensemble --template tabular
  tutti train examples/00_heteroscedastic_regression
  tutti train examples/00_heteroscedastic_regression --members 4 --optimizer.learning-rate 0.02
  tutti train examples/00_heteroscedastic_regression --help     its hyperparameters and all options of a run
  tutti train examples/00_heteroscedastic_regression --detach     it trains on when the terminal is closed
  tutti attach <run>
  tutti runs --status finished
  tutti stop <run> --at-epoch-end
  tutti set <run> optimizer.learningRate=0.001
  tutti export <run> --to results.zip

Ctrl-C stops a run jointly, with a last evaluation and all checkpoints; a second Ctrl-C aborts it.

Exit codes:
  ${exitCodes.finished}    the run finished, also by early stopping
  ${exitCodes.failed}    the run or the command failed
  ${exitCodes.usage}    wrong arguments or a wrong configuration; nothing was started
  ${exitCodes.stopped}    the run was stopped early, but not by one of the signals below
  ${exitCodes.hungUp}  the run was aborted by SIGHUP (a closed terminal), or stopped because npm was killed
  ${exitCodes.interrupted}  the run was stopped or aborted by Ctrl-C (SIGINT)
  ${exitCodes.quit}  the run was aborted by Ctrl-\\ (SIGQUIT)
  ${exitCodes.terminated}  the run was aborted by SIGTERM`;

/** The argument of commands that act on one run. */
const theRun = ['<run>', 'its id or name, or the beginning of one, or its folder'] as const;

const collect = (value: string, earlier: string[]): string[] => [...earlier, value];

/** Sets the process's exit code to that of a command. */
function exitWith<A extends unknown[]>(command: (...args: A) => Promise<number>): (...args: A) => Promise<void> {
  return async (...args) => {
    process.exitCode = await command(...args);
  };
}

function createProgram(): Command {
  const program = new Command('tutti')
    .description('Trains deep ensembles: one process per member, trained jointly or independently.')
    .version(packageJson.version)
    .enablePositionalOptions()
    .exitOverride()
    .addHelpText('after', epilogue);
  addTraining(program);
  addFork(program);
  addControlling(program);
  addChanging(program);
  addRuns(program);
  addMachine(program);
  return program;
}

function addTraining(program: Command): void {
  program
    .command('create')
    .description('write a new project: tabular, images, text or blank')
    .argument('<folder>', 'a folder that is absent or empty')
    .option('--template <name>', 'what to start from', 'blank')
    .action(
      exitWith(async (folder: string, options: CreateOptions) =>
        (await import('./cli/commands/create.ts')).create(folder, options),
      ),
    );
  program
    .command('train')
    .description('train a project; `tutti train <project> --help` lists the options')
    .usage('<project> [options]')
    // The options depend on the project.
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .argument('[project]')
    .argument('[options...]')
    .action(
      exitWith(async (project: string | undefined, args: string[]) =>
        (await import('./cli/commands/train.ts')).train(project, args),
      ),
    );
  addResuming(program);
}

function addResuming(program: Command): void {
  program
    .command('resume')
    .description('resume a run from its newest saved state')
    .argument(...theRun)
    .option('--set <path=value>', 'change an option, such as maxEpochs=200 (repeatable)', collect, [])
    .option('--rank <rank>', 'complete only this missing member, up to where the others ended')
    .option('--trust', "trust the project's folder from now on, without a question")
    .option('--detach', 'train without this terminal: return once all ranks are ready')
    .option('--json', 'print one JSON object per line')
    .option('--quiet', 'print no progress, only how the run ended')
    .action(
      exitWith(async (run: string, options: ResumeOptions) =>
        (await import('./cli/commands/resume.ts')).resume(run, options),
      ),
    );
}

function addFork(program: Command): void {
  program
    .command('fork')
    .description('start a new run from a saved state or checkpoint of a run, which stays unchanged')
    .argument(...theRun)
    .option('--at <point>', 'an epoch, or a point that `tutti show <run>` lists')
    .option('--best', "at the ensemble's best checkpoint")
    .option('--last', 'at the newest state (default)')
    .option('--set <path=value>', 'change an option, such as maxEpochs=200 (repeatable)', collect, [])
    .option('--name <text>', "name of the fork; by default the run's with (fork)")
    .option('--out <folder>', "the fork's folder; by default a new one in Tutti's home")
    .option('--trust', "trust the project's folder from now on, without a question")
    .option('--detach', 'train without this terminal: return once all ranks are ready')
    .option('--json', 'print one JSON object per line')
    .option('--quiet', 'print no progress, only how the run ended')
    .action(
      exitWith(async (run: string, options: ForkOptions) =>
        (await import('./cli/commands/history/fork.ts')).fork(run, options),
      ),
    );
}

/** Commands that stop, hold and continue a run of any process of this user on this machine. */
function addControlling(program: Command): void {
  program
    .command('attach')
    .description('follow a run of any process; Ctrl-C stops it, Ctrl-D or q leaves it')
    .argument(...theRun)
    .option('--json', 'print one JSON object per line')
    .option('--quiet', 'print no progress, only how the run ended')
    .action(
      exitWith(async (run: string, options: WatchOptions) =>
        (await import('./cli/commands/attach.ts')).attach(run, options),
      ),
    );
  program
    .command('stop')
    .description('stop a run jointly, with a last evaluation and all checkpoints')
    .argument(...theRun)
    .option('--at-epoch-end', 'stop once every rank has completed its epoch')
    .option('--rank <rank>', 'stop only this rank; the others continue')
    .action(
      exitWith(async (run: string, options: StopOptions) =>
        (await import('./cli/commands/control.ts')).stop(run, options),
      ),
    );
  program
    .command('pause')
    .description('pause every rank of a run at its next step')
    .argument(...theRun)
    .action(exitWith(async (run: string) => (await import('./cli/commands/control.ts')).pause(run)));
  program
    .command('continue')
    .description('end the pause of a run')
    .argument(...theRun)
    .action(exitWith(async (run: string) => (await import('./cli/commands/control.ts')).continueRun(run)));
}

/** Commands that save or change something in a run while it trains. */
function addChanging(program: Command): void {
  program
    .command('checkpoint')
    .description('save the weights of every rank of a run now')
    .argument(...theRun)
    .requiredOption('--name <name>', 'name of letters, digits, "-" and "_"')
    .action(
      exitWith(async (run: string, options: { name: string }) =>
        (await import('./cli/commands/control.ts')).keepCheckpoint(run, options),
      ),
    );
  program
    .command('set')
    .description('change optimizer.learningRate or earlyStopping.patience of a run while it trains')
    .argument(...theRun)
    .argument('<path=value...>')
    .action(
      exitWith(async (run: string, assignments: string[]) =>
        (await import('./cli/commands/control.ts')).set(run, assignments),
      ),
    );
}

/** Commands that list and export runs. */
function addRuns(program: Command): void {
  program
    .command('runs')
    .description('list runs, the newest first')
    .option('--status <status>', 'only runs with this status (repeatable)', collect, [])
    .option('--project <name>', 'only runs of this project')
    .option('--search <text>', 'only runs with these words in their id, name, project, folder, tags, note or error')
    .option('--limit <n>', 'maximum number of runs')
    .option('--json', 'print one JSON object per line')
    .action(exitWith(async (options: RunsOptions) => (await import('./cli/commands/runs.ts')).listRuns(options)));
  program
    .command('show')
    .description('show the configuration, attempts, origin and forks of a run, and where a fork can begin')
    .argument(...theRun)
    .option('--json', 'print a JSON object')
    .action(
      exitWith(async (run: string, options: { json?: boolean }) =>
        (await import('./cli/commands/history/show.ts')).show(run, options),
      ),
    );
  program
    .command('export')
    .description('write metrics, checkpoints and plots of a run to a folder or one ZIP')
    .argument(...theRun)
    .requiredOption('--to <path>', 'a folder that is absent or empty, or a file that ends in .zip')
    .option('--zip', 'write one ZIP, whatever the name')
    .option('--overwrite', 'replace existing files')
    .option(
      '--format <formats>',
      'record, csv, jsonl, tensorboard, checkpoints, logs, plots, tfjs (default: all but tfjs)',
      collect,
      [],
    )
    .action(
      exitWith(async (run: string, options: ExportArguments) =>
        (await import('./cli/commands/export.ts')).exportRun(run, options),
      ),
    );
}

/** Commands about this machine. */
function addMachine(program: Command): void {
  program
    .command('dashboard')
    .description('open the dashboard in a window or the browser; `tutti dashboard --help` lists the options')
    .usage('[options]')
    // The server has its own reader of options.
    .helpOption(false)
    .allowUnknownOption()
    .argument('[options...]')
    .action(exitWith(async (args: string[]) => (await import('./start.ts')).openDashboard(args)));
  program
    .command('setup')
    .description('set up a backend that npm does not install: TensorFlow, or with --webgpu GPUs of all makers')
    .option('--gpu', "TensorFlow with CUDA, for NVIDIA's GPUs")
    .option('--webgpu', 'WebGPU instead')
    .action(exitWith(async (options: SetupOptions) => (await import('./cli/commands/setup.ts')).setUp(options)));
  program
    .command('trust')
    .description('trust a folder, whose projects may then run; without a folder, list the trusted ones')
    .argument('[folder]')
    .option('--remove', 'trust the folder no longer')
    .action(
      exitWith(async (folder: string | undefined, options: TrustOptions) =>
        (await import('./cli/commands/trust.ts')).trust(folder, options),
      ),
    );
  program
    .command('devices')
    .description('list the devices of this machine')
    .option('--json', 'print a JSON object')
    .action(
      exitWith(async (options: { json?: boolean }) => (await import('./cli/commands/machine.ts')).listDevices(options)),
    );
  program
    .command('doctor')
    .description('check whether this machine has what Tutti needs')
    .option('--json', 'print a JSON object')
    .action(
      exitWith(async (options: { json?: boolean }) => (await import('./cli/commands/machine.ts')).doctor(options)),
    );
}

protectTerminal();
guardOutputs();
followLauncher();
try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = reportError(error);
}
