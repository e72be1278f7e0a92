import { describeOptions, describeRule } from '../../core/options/index.ts';
import type { OptionDescription } from '../../core/options/index.ts';
import { runConfigSchema } from '../../core/protocol/run/config.ts';

const introduction = `# Options of a run

Generated from \`core/protocol/run/config.ts\` by \`scripts/generate/options-page.ts\`. Edit the schema, not this page.

Options are given in the terminal as \`--batch-size 64\`, in a configuration file and in a project's defaults under the same
name in camel case, nested at the dots: \`--early-stopping.min-delta 0.01\` is
\`{ "earlyStopping": { "minDelta": 0.01 } }\`, and \`--optimizer sgd\` is \`{ "optimizer": { "kind": "sgd" } }\`. Flags win
over the configuration file, the file over the project, the project over the defaults below.
`;

const header = '| Option | Default | Unit | Values | Meaning |\n| --- | --- | --- | --- | --- |';

/** `docs/options.md`: one table per section of the run configuration. */
export function renderOptionsDoc(): string {
  const sections = Map.groupBy(describeOptions(runConfigSchema), (option) => option.section?.path ?? '');
  return [introduction, ...[...sections].map(([path, options]) => renderSection(path, options))].join('\n');
}

function renderSection(path: string, options: OptionDescription[]): string {
  const title = path === '' ? '## General' : `## \`${path}\``;
  const help = options[0].section?.help ?? 'The ensemble, its devices, and the length of the training.';
  return [title, '', help, '', header, ...options.map(renderOption), ''].join('\n');
}

function renderOption(option: OptionDescription): string {
  const standard = option.default === undefined ? 'required' : code(option.default);
  const cells = [`\`${option.flag}\``, standard, option.unit ?? '', renderValues(option), renderMeaning(option)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function renderValues(option: OptionDescription): string {
  if (option.choices === undefined) return describeRule(option);
  return option.choices.map(({ value, help }) => (help === '' ? `\`${value}\`` : `\`${value}\`: ${help}`)).join('<br>');
}

function renderMeaning({ help, when }: OptionDescription): string {
  return when === undefined ? help : `With ${when.equals.map(code).join(', ')}: ${help}`;
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
