import type { Command } from 'commander';
import type { StopOptions } from '../commands/control.ts';
import type { QueueOptions } from '../commands/queue.ts';
import type { AttachOptions } from '../commands/training/attach.ts';
import { exitWith, theRun } from './common.ts';

/** Commands that stop, hold and continue a run of any process of this user on this machine. */
export function addControlling(program: Command): void {
  program
    .command('attach')
    .description(
      'follow a run of any process, or through ssh of another machine; Ctrl-C stops it, Ctrl-D or q leaves it',
    )
    .argument('<run>', `${theRun[1]}; user@login:run for one that trains behind that login node`)
    .option('--home <folder>', "Tutti's home on the other machine, where it is not the usual one")
    .option('-j, --json', 'print one JSON object per line')
    .option('-q, --quiet', 'print no progress, only how the run ended')
    .action(
      exitWith(async (run: string, options: AttachOptions) =>
        (await import('../commands/training/attach.ts')).attach(run, options),
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
        (await import('../commands/control.ts')).stop(run, options),
      ),
    );
  program
    .command('pause')
    .description('pause every rank of a run at its next step')
    .argument(...theRun)
    .action(exitWith(async (run: string) => (await import('../commands/control.ts')).pause(run)));
  program
    .command('continue')
    .description('end the pause of a run')
    .argument(...theRun)
    .action(exitWith(async (run: string) => (await import('../commands/control.ts')).continueRun(run)));
}

/** The command about runs that wait. */
export function addQueue(program: Command): void {
  program
    .command('queue')
    .description('list the runs that wait (tutti train --queue); the dashboard starts them one after the other')
    .option('--remove <id>', 'remove one of them')
    .action(exitWith(async (options: QueueOptions) => (await import('../commands/queue.ts')).queue(options)));
}

/** Commands that save or change something in a run while it trains. */
export function addChanging(program: Command): void {
  program
    .command('checkpoint')
    .description('save the weights of every rank of a run now')
    .argument(...theRun)
    .requiredOption('-n, --name <name>', 'name of letters, digits, "-" and "_"')
    .action(
      exitWith(async (run: string, options: { name: string }) =>
        (await import('../commands/control.ts')).keepCheckpoint(run, options),
      ),
    );
  program
    .command('set')
    .description('change optimizer.learningRate or earlyStopping.patience of a run while it trains')
    .argument(...theRun)
    .argument('<path=value...>')
    .action(
      exitWith(async (run: string, assignments: string[]) =>
        (await import('../commands/control.ts')).set(run, assignments),
      ),
    );
}
