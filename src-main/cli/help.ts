import type { OptionDescription, OptionType, PlainObject } from '../../core/options/index.ts';
import { getPath } from '../../core/options/layers.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { hasFlag, type RunFlag, shortFlagOf, trainFlags } from '../runs/configuration/run-flags.ts';
import { wrapText } from './output/table.ts';

/** Longer lines of prose are hard to read. */
const maximumWidth = 110;

/** Placeholders for values without a unit, if the name of the type would be unclear. */
const placeholders: Partial<Record<OptionType, string>> = { 'device-selection': 'devices', string: 'text' };

interface Entry {
  /** The option with its value, `--members <integer>`; empty if the entry continues the one above. */
  left: string;
  right: string;
}

interface Section {
  title: string;
  entries: Entry[];
}

export interface TrainHelp {
  /** The folder as the user typed it, and its project; null for help on projects in general. */
  project: { folder: string; description: ProjectDescription } | null;
  flags: readonly RunFlag[];
  /** Columns of the terminal. */
  width: number;
}

/** Help on training a project: its description, its hyperparameters, then all options of a run with the project's defaults. */
export function renderTrainHelp({ project, flags, width }: TrainHelp): string[] {
  const lineWidth = Math.min(width, maximumWidth);
  const defaults = (project?.description.defaults ?? {}) as PlainObject;
  const sections = [
    { title: 'The command', entries: trainFlags.map((flag) => ({ left: spell(flag), right: flag.help })) },
    ...flagSections(flags, defaults),
  ].filter(({ entries }) => entries.length > 0);
  const leftWidth = Math.max(...sections.flatMap(({ entries }) => entries.map(({ left }) => left.length)));
  return [
    ...introduction(project, lineWidth),
    ...sections.flatMap(({ title, entries }) => [
      '',
      ...wrapText(title, lineWidth),
      ...entries.flatMap((entry) => renderEntry(entry, leftWidth, lineWidth)),
    ]),
  ];
}

function introduction(project: TrainHelp['project'], width: number): string[] {
  if (project === null) {
    return [
      'Usage: tutti train <project> [options]',
      '',
      ...wrapText(
        'Trains the project in a folder. `tutti train <project> --help` also shows its hyperparameters and its own defaults.',
        width,
      ),
    ];
  }
  const { folder, description } = project;
  return [
    `${description.name} (${description.task})`,
    ...wrapText(description.description, width),
    '',
    `Usage: tutti train ${folder} [options]`,
  ];
}

function flagSections(flags: readonly RunFlag[], defaults: PlainObject): Section[] {
  const entriesOf = (group: readonly RunFlag[]): Entry[] => group.flatMap((flag) => flagEntries(flag, defaults));
  const own = flags.filter(({ isHyperparameter }) => isHyperparameter);
  const ofRuns = flags.filter(({ isHyperparameter }) => !isHyperparameter);
  const groups = Map.groupBy(ofRuns, ({ variants: [{ section }] }) => section?.path ?? '');
  return [
    { title: 'Hyperparameters of the project', entries: entriesOf(own) },
    ...[...groups].map(([path, group]) => {
      const help = group[0].variants[0].section?.help ?? '';
      return { title: path === '' ? 'The run' : `${path}: ${help}`, entries: entriesOf(group) };
    }),
  ];
}

/** The entries of an option. A choice of kinds has one for each kind, and so has an option that several kinds describe differently. */
function flagEntries(flag: RunFlag, defaults: PlainObject): Entry[] {
  const [first] = flag.variants;
  const left = spellFlag(flag);
  const preferred = getPath(defaults, flag.path.split('.'));
  if (first.path.endsWith('.kind') && first.choices !== undefined) {
    const kinds = first.choices.map(({ value, help }) => `${value}: ${help}`);
    return [{ left, right: showDefault(first, preferred) }, ...kinds.map((right) => ({ left: '', right }))];
  }
  return flag.variants.map((description, index) => {
    const { when, help } = description;
    const kind = when && getPath(defaults, when.path.split('.'));
    const parts = [kindsOf(description), help, choicesOf(description), showDefault(description, preferred, kind)];
    return { left: index === 0 ? left : '', right: parts.filter((part) => part !== '').join(' ') };
  });
}

function spell(description: OptionDescription): string {
  const flag = [shortFlagOf(description), description.flag].filter((part) => part !== null).join(', ');
  return description.type === 'boolean' ? flag : `${flag} <${placeholder(description)}>`;
}

function spellFlag(flag: RunFlag): string {
  const [first] = flag.variants;
  if (!hasFlag(flag)) return `--set ${first.path}=<${placeholder(first)}>`;
  return first.type === 'boolean' ? `${first.flag} [boolean]` : spell(first);
}

function placeholder({ unit, type }: OptionDescription): string {
  if (unit !== undefined) return unit;
  return placeholders[type] ?? type;
}

function kindsOf({ when }: OptionDescription): string {
  return when === undefined ? '' : `[${when.equals.join(', ')}]`;
}

function choicesOf({ choices }: OptionDescription): string {
  return choices === undefined ? '' : `One of ${choices.map(({ value }) => value).join(', ')}.`;
}

/** @param preferred the project's default; if the option belongs to a kind, this applies to the kind that the project prefers */
function showDefault({ default: general, when }: OptionDescription, preferred: unknown, kind?: unknown): string {
  const isMeant = when === undefined || when.equals.some((known) => known === kind);
  const plain = general === undefined ? 'required' : `default: ${show(general)}`;
  if (preferred === undefined || preferred === general || !isMeant) return `(${plain})`;
  return when === undefined
    ? `(the project's default: ${show(preferred)})`
    : `(${plain}; the project's with ${show(kind)}: ${show(preferred)})`;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Renders help beside the option, or below it if the terminal is too narrow for two columns. */
function renderEntry({ left, right }: Entry, leftWidth: number, width: number): string[] {
  const indent = leftWidth + 4;
  if (width - indent < 30) {
    const below = wrapText(right, width - 6).map((line) => `      ${line}`);
    return left === '' ? below : [`  ${left}`, ...below];
  }
  const [first = '', ...others] = wrapText(right, width - indent);
  return [`  ${left.padEnd(leftWidth)}  ${first}`.trimEnd(), ...others.map((line) => ' '.repeat(indent) + line)];
}
