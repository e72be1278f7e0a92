import type { OptionDescription, OptionType, PlainObject } from '../../core/options/index.ts';
import { getPath } from '../../core/options/layers.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { hasFlag, type Setting, trainFlags } from './arguments.ts';
import { wrapText } from './table.ts';

/** The widest that lines of prose stay readable. */
const maximumWidth = 110;

/** What stands for a value without a unit, where the type's own name would not do. */
const placeholders: Partial<Record<OptionType, string>> = { 'device-selection': 'devices', string: 'text' };

interface Entry {
  /** The option with its value, `--members <integer>`; empty where it goes on from the entry above. */
  left: string;
  right: string;
}

interface Section {
  title: string;
  entries: Entry[];
}

export interface TrainHelp {
  /** The folder as the user named it, and what is in it; null for help on projects in general. */
  project: { folder: string; description: ProjectDescription } | null;
  settings: readonly Setting[];
  /** Columns of the terminal. */
  width: number;
}

/** Help on training a project: what it is, its hyperparameters, then all options of a run with the defaults that it gives them. */
export function renderTrainHelp({ project, settings, width }: TrainHelp): string[] {
  const lineWidth = Math.min(width, maximumWidth);
  const defaults = (project?.description.defaults ?? {}) as PlainObject;
  const sections = [
    { title: 'The command', entries: trainFlags.map((flag) => ({ left: spell(flag), right: flag.help })) },
    ...settingSections(settings, defaults),
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

function settingSections(settings: readonly Setting[], defaults: PlainObject): Section[] {
  const entriesOf = (group: readonly Setting[]): Entry[] =>
    group.flatMap((setting) => settingEntries(setting, defaults));
  const own = settings.filter(({ isHyperparameter }) => isHyperparameter);
  const ofRuns = settings.filter(({ isHyperparameter }) => !isHyperparameter);
  const groups = Map.groupBy(ofRuns, ({ variants: [{ section }] }) => section?.path ?? '');
  return [
    { title: 'Hyperparameters of the project', entries: entriesOf(own) },
    ...[...groups].map(([path, group]) => {
      const help = group[0].variants[0].section?.help ?? '';
      return { title: path === '' ? 'The run' : `${path}: ${help}`, entries: entriesOf(group) };
    }),
  ];
}

/** One entry, or several: a choice lists what its values mean, an option of several kinds what it is to each. */
function settingEntries(setting: Setting, defaults: PlainObject): Entry[] {
  const [first] = setting.variants;
  const left = spellSetting(setting);
  const preferred = getPath(defaults, setting.path.split('.'));
  if (first.path.endsWith('.kind') && first.choices !== undefined) {
    const kinds = first.choices.map(({ value, help }) => `${value}: ${help}`);
    return [{ left, right: showDefault(first, preferred) }, ...kinds.map((right) => ({ left: '', right }))];
  }
  return setting.variants.map((description, index) => {
    const { when, help } = description;
    const kind = when && getPath(defaults, when.path.split('.'));
    const parts = [kindsOf(description), help, choicesOf(description), showDefault(description, preferred, kind)];
    return { left: index === 0 ? left : '', right: parts.filter((part) => part !== '').join(' ') };
  });
}

function spell(description: OptionDescription): string {
  return description.type === 'boolean' ? description.flag : `${description.flag} <${placeholder(description)}>`;
}

function spellSetting(setting: Setting): string {
  const [first] = setting.variants;
  if (!hasFlag(setting)) return `--set ${first.path}=<${placeholder(first)}>`;
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

/** `preferred` is the project's default; where the option is one of a kind, it holds for the kind that the project prefers. */
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

/** Help beside the option, or below it where the terminal is too narrow for two columns. */
function renderEntry({ left, right }: Entry, leftWidth: number, width: number): string[] {
  const indent = leftWidth + 4;
  if (width - indent < 30) {
    const below = wrapText(right, width - 6).map((line) => `      ${line}`);
    return left === '' ? below : [`  ${left}`, ...below];
  }
  const [first = '', ...others] = wrapText(right, width - indent);
  return [`  ${left.padEnd(leftWidth)}  ${first}`.trimEnd(), ...others.map((line) => ' '.repeat(indent) + line)];
}
