import type { Command } from 'commander';
import type { SetupOptions } from '../commands/machine.ts';
import type { TrustOptions } from '../commands/trust.ts';
import { exitWith, type ProgramParts } from './common.ts';

/** Commands about this machine. */
export function addMachine(program: Command, { openDashboard }: ProgramParts): void {
  program
    .command('dashboard')
    .description('open the dashboard in a window or the browser; `tutti dashboard --help` lists the options')
    .usage('[options]')
    // The server has its own reader of options.
    .helpOption(false)
    .allowUnknownOption()
    .argument('[options...]')
    .action(exitWith(openDashboard));
  program
    .command('setup')
    .description('set up what npm does not install: OpenBLAS and TensorFlow, or only what an option names')
    .option('--blas', 'OpenBLAS, for faster training on CPU cores; needs no compiler')
    .option('--tensorflow', 'TensorFlow for CPU cores')
    .option('--gpu', "TensorFlow with CUDA, for NVIDIA's GPUs")
    .option('--webgpu', 'WebGPU, for GPUs of all makers')
    .action(exitWith(async (options: SetupOptions) => (await import('../commands/machine.ts')).setUp(options)));
  addTrust(program);
  addChecks(program);
  addCompletion(program);
}

function addTrust(program: Command): void {
  program
    .command('trust')
    .description('trust a folder, whose projects may then run; without a folder, list the trusted ones')
    .argument('[folder]')
    .option('--remove', 'trust the folder no longer')
    .action(
      exitWith(async (folder: string | undefined, options: TrustOptions) =>
        (await import('../commands/trust.ts')).trust(folder, options),
      ),
    );
}

function addChecks(program: Command): void {
  program
    .command('devices')
    .description('list the devices of this machine')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (options: { json?: boolean }) => (await import('../commands/machine.ts')).listDevices(options)),
    );
  program
    .command('doctor')
    .description('check whether this machine has what Tutti needs')
    .option('-j, --json', 'print a JSON object')
    .action(exitWith(async (options: { json?: boolean }) => (await import('../commands/machine.ts')).doctor(options)));
}

/** The hidden command answers the scripts that the other one prints. */
function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and runs in bash, zsh or fish')
    .argument('<shell>', 'bash, zsh or fish')
    .action(exitWith(async (shell: string) => (await import('../completion.ts')).printCompletion(shell)));
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(exitWith(async (words: string[]) => (await import('../completion.ts')).complete(program, words)));
}
