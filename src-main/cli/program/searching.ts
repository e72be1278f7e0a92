import { type Command, InvalidArgumentError, Option } from 'commander';
import { distanceKinds } from '../../../core/discovery/distances.ts';
import { acquisitionKinds, batchKinds } from '../../../core/discovery/search.ts';
import type { DiscoverOptions } from '../commands/discover.ts';
import { collect, exitWith, projectFolder, wholeNumber } from './common.ts';

/** Commands that decide what to try next. */
export function addSearching(program: Command): void {
  const command = program
    .command('discover')
    .description(
      'search a pool: train on what is labelled, choose what to label next, round by round, beside random and ' +
        'greedy choices',
    )
    .argument('[project]', 'a project whose training split is the pool', projectFolder)
    .option('--resume <search>', 'continue a search by its id or folder')
    .option(
      '--answers <file>',
      'labels for a search that waits for a person: its CSV file with the column label filled',
    );
  addChoosing(command);
  addPlan(command);
  command.action(
    exitWith(async (project: string | undefined, options: DiscoverOptions) =>
      (await import('../commands/discover.ts')).discover(project, options),
    ),
  );
}

/** What decides which candidates are chosen. */
function addChoosing(command: Command): void {
  command
    .addOption(
      new Option('-a, --acquisition <kind>', 'how candidates are scored').choices(acquisitionKinds).default('ucb'),
    )
    .addOption(
      new Option('-b, --batch <kind>', 'how a batch is chosen by the scores').choices(batchKinds).default('top'),
    )
    .option('--kappa <weight>', 'weight of the deviation in ucb (κ)', anyNumber, 1)
    .option('--xi <improvement>', 'improvement that ei and pi ask for beyond the best (ξ)', anyNumber, 0)
    .option(
      '--shortlist <times>',
      'the batches centres and clusters choose among this many times their size of the best candidates',
      wholeNumber(1),
      10,
    )
    .addOption(
      new Option('--distance <kind>', 'how far apart candidates lie for these batches; tanimoto suits fingerprints')
        .choices(distanceKinds)
        .default('euclidean'),
    )
    .option('--beside <kinds>', 'acquisitions to compare with, or none (default: random,greedy; for a person: none)')
    .option('--hit-class <number>', 'the class to look for (default of a binary task: 1)', wholeNumber(0))
    .option('--minimize', 'look for small values, not large ones')
    .option('--threshold <value>', 'the value from which on a candidate counts as a hit', anyNumber);
}

/** How much is labelled, by whom, and how each round trains. */
function addPlan(command: Command): void {
  command
    .option('--start <count>', 'candidates labelled at random before the first round', wholeNumber(1), 100)
    .option('--stratified', 'begin with the classes in the proportions of the pool, and at least one of each')
    .option('--per-round <count>', 'candidates that a round labels', wholeNumber(1), 20)
    .option('-r, --rounds <count>', 'rounds', wholeNumber(1), 10)
    .addOption(
      new Option('--oracle <kind>', 'who labels: the hidden targets of the pool, or a person who gets a CSV file')
        .choices(['hidden', 'person'])
        .default('hidden'),
    )
    .option(
      '--command <command>',
      'a program that labels: it reads candidates and prints labels, one JSON object a line',
    )
    .option('--class-weights', 'let each class weigh the same in the loss')
    .option('--warm', "begin each round's training with the weights of the round before")
    .option('--seed <seed>', 'seed of the members and of all draws', wholeNumber(0), 42)
    .option(
      '--repeat <searches>',
      'search so many times with other seeds, and give the mean ± standard error of the hits',
      wholeNumber(2),
    )
    .option('--set <path=value>', 'an option of the runs, such as members=4 or maxEpochs=30 (repeatable)', collect, [])
    .option('-n, --name <text>', "name of the search; by default the project's")
    .option('-o, --out <folder>', "the search's folder; by default a new one in Tutti's home")
    .option('--current-source', "continue with the project's present code, although it has changed")
    .option('--trust', "trust the project's folder from now on, without a question")
    .option('-j, --json', 'print one JSON object per line')
    .option('-q, --quiet', 'print only how the search ended');
}

function anyNumber(text: string): number {
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  throw new InvalidArgumentError('It must be a number.');
}
