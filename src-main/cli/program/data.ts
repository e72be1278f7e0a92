import { type Command, Option } from 'commander';
import { plannedTasks } from '../../../core/preprocessing/plans/planned-task.ts';
import { columnRoles } from '../../../core/preprocessing/plans/project-plan.ts';
import { dateFormats } from '../../../core/preprocessing/reading.ts';
import { splitAnswers } from '../../../core/preprocessing/split-column.ts';
import type { CreateFlags, InspectFlags } from '../commands/data.ts';
import { collect, delimiters, exitWith, positive, wholeNumber } from './common.ts';

/** Commands that begin with data: what is in a file, and a project from it. */
export function addData(program: Command): void {
  withReadingFlags(
    program
      .command('inspect')
      .description('show what is in a file of data: how it is read, each column, and what to decide before training')
      .argument(
        '<path>',
        'a folder of images, or a table: .csv, .tsv, .xlsx, .json, .jsonl, .parquet, .arrow, or other delimited text; also .gz, or alone in a .zip',
      ),
  )
    .option('--target <column>', 'the column to predict (default: proposed; repeatable)', collect, [] as string[])
    .option('--time <column>', 'the column of the time (default: proposed where rows are the steps of a series)')
    .option('--image <column>', 'the column that names images (default: one whose values end so)')
    .option('--split <column>', 'the column that says the split of each row (default: one whose values are called so)')
    .option('-j, --json', 'print a JSON object')
    .action(
      exitWith(async (path: string, flags: InspectFlags) => (await import('../commands/data.ts')).inspect(path, flags)),
    );
  withReadingFlags(
    program
      .command('create')
      .description('write a new project: from a file of data, or tabular, images, text or blank')
      .argument('<folder>', 'a folder that is absent or empty')
      .option('-t, --template <name>', 'what to start from', 'blank')
      .option(
        '--from <path>',
        'a table or folder of images to learn from, in place of a template; see `tutti inspect`',
      ),
  )
    .option('--target <column>', 'what to predict (default: proposed; repeatable)', collect, [] as string[])
    .addOption(new Option('--task <task>', 'what the target is (default: proposed)').choices(plannedTasks))
    .option('--column <name=role>', `what a column is: ${columnRoles.join(', ')} (repeatable)`, collect, [] as string[])
    .action(
      exitWith(async (folder: string, flags: CreateFlags) =>
        (await import('../commands/data.ts')).create(folder, flags),
      ),
    );
}

/** Flags that say how data are read, where that cannot be found out. */
function withReadingFlags(command: Command): Command {
  return command
    .addOption(new Option('--delimiter <sign>', 'between fields (default: found out)').choices(Object.keys(delimiters)))
    .option('--header', 'the first line names the columns')
    .option('--no-header', 'the first line is a row')
    .option('--comment-lines <count>', 'lines of comment at the beginning (default: found out)', wholeNumber(0))
    .option('--encoding <name>', 'of text that is not UTF-8, such as windows-1252')
    .option('--sheet <name>', 'of a workbook: its name, or its position from 1 (default: the only one with values)')
    .option('--range <cells>', 'of the table in its sheet, such as B3:F200, or B3:F for all rows below (default: all)')
    .addOption(new Option('--decimal <sign>', 'in front of decimals (default: found out)').choices(['.', ',']))
    .addOption(new Option('--date-format <format>', 'of dates that are not ISO 8601').choices(dateFormats))
    .option('--ignore-case <columns...>', 'columns of categories in which capital letters make no difference')
    .option('--missing <texts...>', 'texts that stand for a missing value, in place of the usual ones')
    .option('--maximum <value>', 'what becomes 255 in images of more than 8 bits, such as 4095', positive)
    .option(
      '--split-folder <name=split>',
      `what a folder of images, or a value of a column of splits, is: ${splitAnswers.join(', ')} (repeatable)`,
      collect,
      [] as string[],
    )
    .option('--images <folder>', 'where the images lie that a table names (default: beside the table)');
}
