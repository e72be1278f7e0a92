import type { OptionDescription, OptionType, PlainObject } from '../../core/options/index.ts';
import { getPath } from '../../core/options/layers.ts';
import type { ProjectDescription } from '../../core/protocol/run/project-description.ts';
import { hasFlag, type RunFlag, shortFlagOf, trainFlags, usualOptions } from '../runs/configuration/run-flags.ts';
import { wrapText } from './table.ts';

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
  /** What `--help` was given: `all`, a group such as `optimizer`, or a word to look for; true: nothing. */
  topic: string | true;
  /** Columns of the terminal. */
  width: number;
}

/**
 * Help on training a project: its description, its hyperparameters, and the options that people use most, with the
 * project's defaults. A topic shows others.
 * @throws Error for a topic that is no group, and that no option mentions
 */
export function renderTrainHelp({ project, flags, topic, width }: TrainHelp): string[] {
  const lineWidth = Math.min(width, maximumWidth);
  const defaults = (project?.description.defaults ?? {}) as PlainObject;
  const sections = chooseSections(topic, flags, defaults).filter(({ entries }) => entries.length > 0);
  const leftWidth = Math.max(...sections.flatMap(({ entries }) => entries.map(({ left }) => left.length)));
  return [
    ...introduction(project, lineWidth),
    ...sections.flatMap(({ title, entries }) => [
      '',
      ...wrapText(title, lineWidth),
      ...entries.flatMap((entry) => renderEntry(entry, leftWidth, lineWidth)),
    ]),
    ...(topic === 'all' ? [] : ['', ...wrapText(furtherHelp(flags), lineWidth)]),
  ];
}

function chooseSections(topic: string | true, flags: readonly RunFlag[], defaults: PlainObject): Section[] {
  const isUsual = ({ path, isHyperparameter }: { path: string; isHyperparameter?: boolean }): boolean =>
    isHyperparameter === true || usualOptions.has(path);
  const commandOptions = trainFlags.filter((flag) => topic !== true || isUsual(flag));
  const command = {
    title: 'The command',
    entries: commandOptions.map((flag) => ({ left: spell(flag), right: flag.help })),
  };
  if (topic === true) return [...flagSections(flags.filter(isUsual), defaults, false), command];
  const all = [command, ...flagSections(flags, defaults, true)];
  if (topic === 'all') return all;
  const group = all.filter(({ title }) => title.toLowerCase().startsWith(`${topic.toLowerCase()}: `));
  return group.length > 0 ? group : sectionsWith(topic, all);
}

/** The options that have a word in their name or their help, with what belongs to them. @throws Error if none has */
function sectionsWith(word: string, sections: readonly Section[]): Section[] {
  const found = sections.map(({ title, entries }) => ({ title, entries: entriesWith(word, entries) }));
  if (found.some(({ entries }) => entries.length > 0)) return found;
  throw new Error(
    `No option mentions "${word}". --help all shows all options; the groups are ${groupsOf(sections).join(', ')}.`,
  );
}

function entriesWith(word: string, entries: readonly Entry[]): Entry[] {
  // An entry without a name of its own continues the one before.
  const options: Entry[][] = [];
  for (const entry of entries)
    if (entry.left === '') options.at(-1)?.push(entry);
    else options.push([entry]);
  const hasWord = ({ left, right }: Entry): boolean => `${left} ${right}`.toLowerCase().includes(word.toLowerCase());
  return options.filter((option) => option.some(hasWord)).flat();
}

function groupsOf(sections: readonly Section[]): string[] {
  return sections.flatMap(({ title }) => /^(\w+): /.exec(title)?.[1] ?? []);
}

function furtherHelp(flags: readonly RunFlag[]): string {
  const groups = groupsOf(flagSections(flags, {}, true));
  return (
    'More: --help all shows all options, --help <word> those that mention a word, and --help <group> those of a ' +
    `group: ${groups.join(', ')}. ` +
    'docs/options.md has them all.'
  );
}

function introduction(project: TrainHelp['project'], width: number): string[] {
  if (project === null) {
    return [
      'Usage: tutti train <project> [options]',
      '',
      ...wrapText(
        'Trains the project in a folder. `tutti train <project> --help` also shows its ' +
          'hyperparameters and its own defaults.',
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

/** @param areGrouped whether each group has a section, and each kind of a choice a line */
function flagSections(flags: readonly RunFlag[], defaults: PlainObject, areGrouped: boolean): Section[] {
  const entriesOf = (group: readonly RunFlag[]): Entry[] =>
    group.flatMap((flag) => flagEntries(flag, defaults, areGrouped));
  const own = flags.filter(({ isHyperparameter }) => isHyperparameter);
  const ofRuns = flags.filter(({ isHyperparameter }) => !isHyperparameter);
  const groups = Map.groupBy(ofRuns, ({ variants: [{ section }] }) => (areGrouped && section?.path) || '');
  return [
    { title: 'Hyperparameters of the project', entries: entriesOf(own) },
    ...[...groups].map(([path, group]) => {
      const help = group[0].variants[0].section?.help ?? '';
      return { title: path === '' ? 'The run' : `${path}: ${help}`, entries: entriesOf(group) };
    }),
  ];
}

/**
 * The entries of an option. A choice of kinds has one for each kind, and so has an option that several kinds describe
 * differently.
 */
function flagEntries(flag: RunFlag, defaults: PlainObject, hasKinds: boolean): Entry[] {
  const [first] = flag.variants;
  const left = spellFlag(flag);
  const preferred = getPath(defaults, flag.path.split('.'));
  if (first.path.endsWith('.kind') && first.choices !== undefined && !hasKinds) {
    const kinds = `One of ${first.choices.map(({ value }) => value).join(', ')}.`;
    return [{ left, right: `${first.help} ${kinds} ${showDefault(first, preferred)}`.trim() }];
  }
  if (first.path.endsWith('.kind') && first.choices !== undefined) {
    const kinds = first.choices.map(({ value, help }) => `${value}: ${help}`);
    return [{ left, right: showDefault(first, preferred) }, ...kinds.map((right) => ({ left: '', right }))];
  }
  return variantsOf(flag, defaults, hasKinds).map((description, index) => {
    const { when, help } = description;
    const kind = when && getPath(defaults, when.path.split('.'));
    const parts = [kindsOf(description), help, choicesOf(description), showDefault(description, preferred, kind)];
    return { left: index === 0 ? left : '', right: parts.filter((part) => part !== '').join(' ') };
  });
}

/** All variants of an option, or only that of the kind with which the project trains. */
function variantsOf({ variants }: RunFlag, defaults: PlainObject, hasKinds: boolean): readonly OptionDescription[] {
  const meant = variants.find(({ when }) => {
    const kind = when && getPath(defaults, when.path.split('.'));
    return typeof kind === 'string' && when?.equals.includes(kind);
  });
  return hasKinds ? variants : [meant ?? variants[0]];
}

function spell(description: OptionDescription): string {
  const flag = [shortFlagOf(description), description.flag].filter((part) => part !== null).join(', ');
  if (description.path === 'help') return `${flag} [topic]`;
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

/**
 * @param preferred the project's default; if the option belongs to a kind, this applies to the kind that the project
 * prefers
 */
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
