import { type Command, Option } from 'commander';
import { endingsWith } from '../../../core/preprocessing/data-formats.ts';
import { partMethods } from '../../../core/protocol/run/parts.ts';
import { formulaGuards } from '../../../core/text/printable.ts';
import type { EnsembleArguments } from '../commands/ensemble.ts';
import type { PredictArguments } from '../commands/predict.ts';
import { exitWith } from './common.ts';

/** Commands that use what was trained. */
export function addPredicting(program: Command): void {
  addPredict(program);
  addEnsemble(program);
}

function addPredict(program: Command): void {
  program
    .command('predict')
    .description('predict new samples with the ensemble of a run')
    .argument('<run>', 'a run by its id, name or folder, or the folder of an exported ensemble')
    .requiredOption(
      '-i, --input <path>',
      `a table (${endingsWith('table').join(', ')}), text (${endingsWith('text').join(', ')}), ` +
        `arrays (${endingsWith('arrays').join(', ')}) or a folder of images`,
    )
    .requiredOption('-o, --output <file>', 'a file that ends in .csv, .jsonl or .parquet')
    .option('--set <name>', 'the checkpoints of the members (default: ensemble-best)')
    .option('--members', 'also write what each member predicts')
    .option('--scores', 'also write each score of how unlike the training data a sample is')
    .option('--strict', 'refuse samples that do not fit the training data, in place of a warning')
    .addOption(
      new Option(
        '--formula-guard <texts>',
        'texts of a CSV file that get an apostrophe where a spreadsheet would take them for a formula: none, names ' +
          '(and notes), or all (also classes, which then no longer join with the data)',
      )
        .choices(formulaGuards)
        .default('names'),
    )
    .option('--overwrite', 'replace an existing file')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (run: string, options: PredictArguments) =>
        (await import('../commands/predict.ts')).predict(run, options),
      ),
    );
}

function addEnsemble(program: Command): void {
  program
    .command('ensemble')
    .description(
      'make a run from checkpoints of runs: chosen members, averaged weights, snapshots of one member, draws ' +
        'with SWAG and MC dropout, or inner members of one network',
    )
    .argument('[runs...]', 'runs of the same task and data by their ids, names or folders')
    .option('--from-study <study>', 'choose from the members of the complete trials of a study, instead of runs')
    .addOption(new Option('-m, --method <method>', 'how members are made').choices(partMethods).default('greedy'))
    .requiredOption('--name <name>', 'name of the new run')
    .option(
      '--set <name>',
      'the checkpoints to choose from, or "all" (default: all for greedy and snapshots, those of epochs for swag)',
    )
    .option('--rank <rank>', 'only checkpoints of this rank (default: all; 0 for snapshots)')
    .option('--from-epoch <epoch>', 'only checkpoints of this epoch and later ones, from 1 (default: all)')
    .option('--rounds <n>', 'most choices of the greedy selection, and members of top-k', '25')
    .option('--tolerance <loss>', 'NLL in nats, or pinball loss, that the smallest subset may lose', '0.001')
    .option('--samples <n>', 'members that swag draws for each member, and mc-dropout for each checkpoint', '10')
    .option('--deviations <n>', 'the newest epochs whose weights swag takes its covariances from', '20')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (runs: string[], options: EnsembleArguments) =>
        (await import('../commands/ensemble.ts')).ensemble(runs, options),
      ),
    );
}
