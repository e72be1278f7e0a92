import type { Command } from 'commander';
import type { PredictArguments } from '../commands/predict.ts';
import { exitWith } from './common.ts';

/** Commands that use what was trained. */
export function addPredicting(program: Command): void {
  program
    .command('predict')
    .description('predict new samples with the ensemble of a run')
    .argument('<run>', 'a run by its id, name or folder, or the folder of an exported ensemble')
    .requiredOption(
      '-i, --input <path>',
      'a table (.csv, .tsv, .jsonl, .parquet, .arrow), text (.txt), arrays (.npy, .npz, .safetensors) or a folder of images',
    )
    .requiredOption('-o, --output <file>', 'a file that ends in .csv, .jsonl or .parquet')
    .option('--set <name>', 'the checkpoints of the members (default: ensemble-best)')
    .option('--members', 'also write what each member predicts')
    .option('--overwrite', 'replace an existing file')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (run: string, options: PredictArguments) =>
        (await import('../commands/predict.ts')).predict(run, options),
      ),
    );
}
