import { type Command, Option } from 'commander';
import { conformalMethods } from '../../../core/postprocessing/request.ts';
import { calibrationMethods, outsideScoreNames } from '../../../core/postprocessing/schema.ts';
import type { CalibrateArguments } from '../commands/calibrate.ts';
import type { ExportArguments, ImportArguments, ReportArguments } from '../commands/exchange.ts';
import type { DeleteOptions } from '../commands/delete.ts';
import type { ArchiveOptions, TagOptions } from '../commands/notes.ts';
import type { RunsOptions } from '../commands/runs.ts';
import { collect, exitWith, theRun } from './common.ts';

/** Commands that list, show, compare and export runs. */
export function addRuns(program: Command): void {
  program
    .command('runs')
    .description('list runs, the newest first')
    .option('--status <status>', 'only runs with this status (repeatable)', collect, [])
    .option('--project <name>', 'only runs of this project')
    .option('--search <text>', 'only runs with these words in their id, name, project, folder, tags, note or error')
    .option('--tag <tag>', 'only runs with this tag')
    .option('--archived', 'only archived runs')
    .option('-a, --all', 'also archived runs')
    .option('--limit <n>', 'maximum number of runs')
    .option('-j, --json', 'print one JSON object per line')
    .action(exitWith(async (options: RunsOptions) => (await import('../commands/runs.ts')).listRuns(options)));
  addShowing(program);
  addExport(program);
  addImport(program);
  addReport(program);
  addCalibrating(program);
}

function addShowing(program: Command): void {
  program
    .command('show')
    .description(
      'show the configuration, attempts, origin and forks of a run, and where a fork can begin; or a sweep, or a study',
    )
    .argument(...theRun)
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (run: string, options: { json?: boolean }) =>
        (await import('../commands/history/show.ts')).show(run, options),
      ),
    );
  program
    .command('compare')
    .description('compare results and options of runs, and of sweeps by means with standard errors')
    .argument('<runs...>', 'two runs or sweeps, or more; last is the newest run')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (runs: string[], options: { json?: boolean }) =>
        (await import('../commands/history/compare.ts')).compare(runs, options),
      ),
    );
}

function addExport(program: Command): void {
  program
    .command('export')
    .description('write metrics, checkpoints and plots of a run to a folder or one ZIP')
    .argument(...theRun)
    .requiredOption('--to <path>', 'a folder that is absent or empty, or a file that ends in .zip or .tutti')
    .option('--zip', 'write one ZIP, whatever the name')
    .option('--overwrite', 'replace existing files')
    .option(
      '--format <formats>',
      'record, csv, jsonl, tensorboard, checkpoints, logs, plots, run, tfjs, ensemble, onnx, pytorch (default: ' +
        'up to plots; run for a .tutti file)',
      collect,
      [],
    )
    .option('--set <name>', 'the checkpoints of the formats ensemble, onnx and pytorch (default: ensemble-best)')
    .action(
      exitWith(async (run: string, options: ExportArguments) =>
        (await import('../commands/exchange.ts')).exportRun(run, options),
      ),
    );
}

function addImport(program: Command): void {
  program
    .command('import')
    .description('make an exported run a run of this Tutti: a .tutti file, or a ZIP with its run.json')
    .argument('<file>', 'the exported file')
    .option('--into <folder>', "the run's new folder, also for a copy of a run that is here (default: in Tutti's home)")
    .action(
      exitWith(async (file: string, options: ImportArguments) =>
        (await import('../commands/exchange.ts')).importRun(file, options),
      ),
    );
}

function addReport(program: Command): void {
  program
    .command('report')
    .description('write one HTML file with the charts, results and options of a run, which opens without Tutti')
    .argument(...theRun)
    .option('-o, --output <file>', 'the file to write (default: <run>.html in the current folder)')
    .option('--overwrite', 'replace an existing file')
    .action(
      exitWith(async (run: string, options: ReportArguments) =>
        (await import('../commands/exchange.ts')).report(run, options),
      ),
    );
}

/** Fits on held-out samples what the ensemble's answers need besides its weights. */
function addCalibrating(program: Command): void {
  program
    .command('calibrate')
    .description(
      'fit calibration, conformal sets and thresholds for a set of checkpoints, and measure them; of a sweep, ' +
        'for each run',
    )
    .argument(...theRun)
    .addOption(new Option('--set <name>', 'the set').choices(['ensemble-best', 'member-best', 'final']))
    .addOption(
      new Option('--split <split>', 'the split to fit on').choices(['validation', 'test']).default('validation'),
    )
    .addOption(new Option('-m, --method <method>', 'calibration').choices(calibrationMethods).default('auto'))
    .option(
      '--calibration-share <share>',
      'share of the samples that fits the calibration; the others fit the rest (1: all fit everything)',
      '0.5',
    )
    .addOption(new Option('--conformal <method>', 'sets or intervals').choices(conformalMethods).default('auto'))
    .option('--alpha <share>', 'wished share of samples outside of their set or interval', '0.1')
    .option('--class-conditional', 'the coverage holds for each class')
    .addOption(
      new Option('--outside <score>', 'score of samples outside the training data')
        .choices(['auto', 'none', ...outsideScoreNames])
        .default('auto'),
    )
    .option('--quantile <share>', 'share of the samples that counts as inside', '0.95')
    .option(
      '--risk <risk>',
      'withhold answers so that the others have this risk: a share of errors, or a squared error',
    )
    .option('--corruptions', 'measure detection also on noisy, blurred and pale images')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (run: string, options: CalibrateArguments) =>
        (await import('../commands/calibrate.ts')).calibrate(run, options),
      ),
    );
}

/** Commands that keep order among runs. */
export function addNotes(program: Command): void {
  program
    .command('tag')
    .description("add tags to a run; without tags, print the run's")
    .argument(...theRun)
    .argument('[tags...]')
    .option('--remove', 'remove these tags')
    .action(
      exitWith(async (run: string, tags: string[], options: TagOptions) =>
        (await import('../commands/notes.ts')).tag(run, tags, options),
      ),
    );
  program
    .command('archive')
    .description('hide runs from the lists; nothing else changes')
    .argument('<runs...>')
    .option('--undo', 'show them again')
    .action(
      exitWith(async (runs: string[], options: ArchiveOptions) =>
        (await import('../commands/notes.ts')).archive(runs, options),
      ),
    );
  program
    .command('delete')
    .description('delete the folders of runs, after a question')
    .argument('<runs...>')
    .option('-y, --yes', 'without a question')
    .action(
      exitWith(async (runs: string[], options: DeleteOptions) =>
        (await import('../commands/delete.ts')).deleteRuns(runs, options),
      ),
    );
}
