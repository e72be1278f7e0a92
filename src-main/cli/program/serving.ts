import { type Command, InvalidArgumentError } from 'commander';
import type { ServeArguments } from '../commands/serve.ts';
import { exitWith } from './common.ts';

/** The command that answers requests. */
export function addServing(program: Command): void {
  program
    .command('serve')
    .description('answer requests for predictions over HTTP (Open Inference Protocol, version 2)')
    .argument('<run>', 'a run by its id, name or folder, or the folder of an exported ensemble')
    .option('--set <name>', 'the checkpoints of the members (default: ensemble-best)')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port to listen on; 0: any free one', wholeNumber(0, 65_535), 0)
    .option('--token <text>', 'requests must bring it (default: none on loopback, else a random one)')
    .option('--max-batch <samples>', 'samples that are predicted together', wholeNumber(1, 2 ** 20), 256)
    .option('--max-delay-ms <ms>', 'how long a request waits for others', wholeNumber(0, 60_000), 0)
    .option(
      '--max-queue <requests>',
      'requests that may wait; further ones get status 503',
      wholeNumber(1, 2 ** 20),
      256,
    )
    .option(
      '--max-samples <samples>',
      'samples of a request; with more it gets status 413',
      wholeNumber(1, 2 ** 24),
      16_384,
    )
    .option(
      '--inputs-timeout-s <seconds>',
      "how long the project's inputs() may take for the rows of a batch; then they get status 504",
      wholeNumber(1, 86_400),
      60,
    )
    .option('--max-body-mib <size>', 'size of a request; larger ones get status 413', wholeNumber(1, 256), 16)
    .option('-j, --json', 'print a JSON object once the server is ready')
    .action(
      exitWith(async (run: string, options: ServeArguments) =>
        (await import('../commands/serve.ts')).serve(run, options),
      ),
    );
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
