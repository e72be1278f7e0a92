/**
 * Writes docs/commands.md from the definitions of the commands. `--check` writes nothing and fails if the page is
 * outdated.
 */
import type { Argument, Command, Option } from 'commander';
import { createProgram } from '../../src-main/cli/program/program.ts';
import { shortFlagOf, trainFlags } from '../../src-main/runs/configuration/run-flags.ts';
import { writeOrCheck } from './generated-page.ts';

/** Where to read more about a command. */
const pages: Readonly<Record<string, string>> = {
  create: '[Projects](projects.md)',
  train: '[Options of a run](options.md), [several seeds](guides/seeds.md), [several machines](guides/clusters.md)',
  search: '[Hyperparameter search](guides/search.md)',
  studies: '[Hyperparameter search](guides/search.md)',
  discover: '[Active learning](guides/discover.md)',
  attach: '[Runs behind a login node](guides/clusters.md#follow-a-run-from-your-own-machine)',
  compare: '[Several seeds](guides/seeds.md)',
  calibrate: '[Calibration and prediction sets](guides/calibration.md)',
  predict: '[Predictions](guides/predict.md)',
  ensemble: '[Ensemble selection, SWAG, MC dropout](guides/ensembles.md)',
  export: '[Export](guides/predict.md#export-an-ensemble), [file formats](formats.md)',
  report: '[Report](guides/predict.md#write-a-report)',
  serve: '[Serve over HTTP](guides/predict.md#serve-over-http)',
  trust: '[Projects](projects.md)',
  dashboard: '[Dashboard](dashboard.md)',
  setup: '[GPUs](gpus.md)',
};

const introduction = `# Commands

Generated from \`src-main/cli/program/\` by \`scripts/generate/commands-page.ts\`. Edit the commands, not this page.

Each command prints its help with \`--help\`. Begin it with \`npx\` where you installed Tutti in a folder or cloned it. With \`--json\`, commands print
[JSON](json.md). Terminals show colours unless \`NO_COLOR\` is set; \`FORCE_COLOR\` shows them elsewhere.

## Name a run

A run is named by its id, its name, the beginning of one, its folder, or \`last\`: the newest run. Capitals do not matter where nothing is spelt
exactly so.

## Set options

Every option of a run is a flag, a path for \`--set\`, or a key in a JSON file for \`--config\`. The common ones have short forms
(\`-m 4 -e 20 -b 64 -l 0.01\`), and \`--epochs\`, \`--batch\` and \`--lr\` are understood:

\`\`\`sh
npx tutti train examples/digits --members 8 --optimizer.learning-rate 0.01 --set hiddenUnits=32
\`\`\`

Small dense networks train two to three times as fast when one worker trains eight members together. The first run of a project measures that, and says
what it chose and why ([stacked members](architecture/stacked-members.md#choice-by-measurement)); \`--members-per-device 8\` or \`1\` chooses instead.

## Stop and continue

Ctrl-C stops a run jointly: all members end at their next step, are evaluated together, and save checkpoints. A second Ctrl-C aborts. With \`--detach\`,
\`train\` and \`resume\` return once all members are ready, and the run needs neither terminal nor window; \`tutti attach <run>\` follows it. If a worker dies
or hangs, its group restarts from its newest state, up to three times without progress (\`--on-member-loss stop\` fails the run instead; with \`continue\`,
independent members train on without the lost one, and \`tutti resume <run> --rank 3\` completes it later). A restart and a resume give
[the same bits](determinism.md) as a run without interruption.

## What a run leaves

Each run has a folder in \`~/.tutti/runs\` (\`TUTTI_HOME\` moves it; \`--out\` sets the folder of one run): \`run.json\`, \`metrics.csv\`, \`events.jsonl\`, logs,
predictions, plots, and every member's checkpoints at the ensemble's best, at its own best and at the end ([file formats](formats.md)). \`tutti export\` also
writes JSON lines, TensorBoard events, models for \`tf.loadLayersModel\`, and the ensemble as [one ONNX file](guides/predict.md#onnx) or
[PyTorch code](guides/predict.md#pytorch). Python reads checkpoints without Tutti:

\`\`\`python
from safetensors.numpy import load_file

weights = load_file("checkpoints/rank-0/final.safetensors")
print({name: array.shape for name, array in weights.items()})
\`\`\`

## All commands
`;

const program = createProgram({ openDashboard: () => Promise.resolve(0) });
const commands = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== 'help');
const overview = commands.map((command) =>
  row([`[\`tutti ${command.name()}\`](#tutti-${command.name()})`, sentence(command), pages[command.name()] ?? '']),
);
writeOrCheck(
  'docs/commands.md',
  [introduction, table(['Command', 'Does', 'More'], overview), ...commands.map(describeCommand)].join('\n'),
  'src-main/cli/program/',
  'node scripts/generate/commands-page.ts',
);

function describeCommand(command: Command): string {
  const help = command.createHelp();
  const args = help.visibleArguments(command).map((argument) => row([code(nameOf(argument)), textOf(argument)]));
  const own = command.name() === 'train' ? trainFlags.map(trainRow) : help.visibleOptions(command).map(optionRow);
  const options = own.filter((line) => !line.includes('`-h, --help`'));
  return [
    `## tutti ${command.name()}`,
    '',
    `${sentence(command)}.`,
    '',
    '```',
    `tutti ${command.name()} ${command.usage()}`.replaceAll(/ +/g, ' '),
    '```',
    '',
    ...(args.length === 0 ? [] : [table(['Argument', 'Meaning'], args)]),
    ...(options.length === 0 ? [] : [table(['Option', 'Meaning'], options)]),
  ].join('\n');
}

function trainRow(flag: (typeof trainFlags)[number]): string {
  const short = shortFlagOf(flag);
  const value = flag.type === 'boolean' ? '' : ` <${flag.unit ?? flag.type}>`;
  return row([code(`${short === null ? '' : `${short}, `}${flag.flag}${value}`), flag.help]);
}

function optionRow(option: Option): string {
  const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.map(code).join(', ')})`;
  const standard: unknown = option.defaultValue;
  const isSaid = standard === undefined || (Array.isArray(standard) && standard.length === 0);
  return row([
    code(option.flags),
    `${option.description}${choices}${isSaid ? '' : `, by default ${code(typeof standard === 'string' ? standard : JSON.stringify(standard))}`}`,
  ]);
}

function textOf({ description, required }: Argument): string {
  return description === '' ? (required ? 'required' : 'optional') : description;
}

function nameOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** The description, which begins with a small letter in help. */
function sentence(command: Command): string {
  const text = command.description();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function table(titles: readonly string[], rows: readonly string[]): string {
  return [row(titles), row(titles.map(() => '---')), ...rows, ''].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => withoutTags(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Outside of code, `<run>` would be an HTML tag, which the site refuses. */
function withoutTags(text: string): string {
  return text.replaceAll(/`[^`]*`|</g, (match) => (match === '<' ? '\\<' : match));
}

function code(text: string): string {
  return `\`${text}\``;
}
