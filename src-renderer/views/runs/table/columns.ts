import { fieldSchema } from '../../../../core/protocol/pages/runs/run-fields.ts';
import type { KnownField } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { type SortKey, sortKeys } from '../../../../core/protocol/pages/run-list.ts';
import { metricLabel } from '../../../../core/text/numbers.ts';
import { labelOfOption } from '../../../components/basic/format.ts';

/** The columns that every run has. A further column is a field of runs, such as `option:seed`. */
const ownColumns = {
  project: { title: 'Project', width: 120 },
  status: { title: 'Status', width: 116 },
  members: { title: 'Members', width: 96, isNumber: true },
  best: { title: 'Ensemble’s best', width: 176, isNumber: true },
  trend: { title: 'Trend', width: 92 },
  created: { title: 'Created', width: 136 },
  duration: { title: 'Duration', width: 96, isNumber: true },
  tags: { title: 'Tags', width: 128 },
  note: { title: 'Note', width: 160 },
  strategy: { title: 'Strategy', width: 112 },
  task: { title: 'Task', width: 112 },
} as const;
const ownFields = {
  disk: { title: 'Disk', width: 88 },
  devices: { title: 'Devices', width: 104 },
  commit: { title: 'Commit', width: 88 },
} as const;

export type OwnColumn = keyof typeof ownColumns;

export interface Column {
  key: string;
  title: string;
  /** The whole name, where the title is shorter. */
  name: string;
  isNumber: boolean;
  /** The width in CSS pixels. */
  width: number;
  /** Null for a column that has no order. */
  sort: SortKey | null;
  /** The field that the hub is asked for; null for a column that every run has. */
  field: string | null;
}

export const defaultColumns = ['project', 'status', 'members', 'best', 'trend', 'created', 'duration'] as const;
export const leastWidth = 56;
export const mostWidth = 480;

export function isOwnColumn(key: string): key is OwnColumn {
  return Object.hasOwn(ownColumns, key);
}

/** Whether a text, such as one in the address, names a column. */
export function isColumn(key: string): boolean {
  return isOwnColumn(key) || fieldSchema.safeParse(key).success;
}

export function columnOf(key: string, width?: number): Column {
  if (isOwnColumn(key)) {
    const own: { title: string; width: number; isNumber?: boolean } = ownColumns[key];
    return {
      key,
      title: own.title,
      name: own.title,
      isNumber: own.isNumber ?? false,
      width: width ?? own.width,
      sort: sortKeys.find((sort) => sort === key) ?? null,
      field: null,
    };
  }
  const { title, name, width: usual } = textOfField(key);
  // The values of an option may be words, which are read from the left.
  const isNumber = key === 'disk' || key.startsWith('metric:') || key.startsWith('set:');
  return { key, title, name, isNumber, width: width ?? usual, sort: key, field: key };
}

function textOfField(field: string): { title: string; name: string; width: number } {
  if (field === 'disk' || field === 'devices' || field === 'commit') {
    const { title, width } = ownFields[field];
    return { title, name: title, width };
  }
  const place = field.indexOf(':');
  const [kind, path] = [field.slice(0, place), field.slice(place + 1)];
  if (kind === 'option') return { title: labelOfOption(path), name: path, width: 104 };
  if (kind === 'metric') return { title: metricLabel(path), name: path, width: 104 };
  const [set, split, metric] = path.split('/');
  return { title: `${metricLabel(metric ?? path)}, ${split ?? ''}`, name: `${metric} on ${split}, ${set}`, width: 120 };
}

export interface ColumnSection {
  title: string;
  columns: Column[];
}

/** The columns that can be added, in sections. @param search words that their titles or names contain */
export function choicesOf(known: readonly KnownField[], shown: readonly string[], search: string): ColumnSection[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ title, name }: Column): boolean =>
    words.every((word) => `${title} ${name}`.toLowerCase().includes(word));
  const fields = known.filter(({ field }) => field.includes(':'));
  const ofKind = (kind: string, differs: boolean): string[] =>
    fields.filter((field) => field.field.startsWith(`${kind}:`) && field.differs === differs).map(({ field }) => field);
  const sections: [string, string[]][] = [
    ['Run', [...Object.keys(ownColumns), ...Object.keys(ownFields)]],
    ['Metrics', [...ofKind('metric', true), ...ofKind('metric', false)]],
    ['Evaluated sets', [...ofKind('set', true), ...ofKind('set', false)]],
    ['Options that differ', ofKind('option', true)],
    ['Options that all runs share', ofKind('option', false)],
  ];
  return sections
    .map(([title, keys]) => ({
      title,
      columns: keys
        .filter((key) => !shown.includes(key))
        .map((key) => columnOf(key))
        .filter(matches),
    }))
    .filter(({ columns }) => columns.length > 0);
}

/** The columns with one of them moved by some places, as far as there are places. */
export function moved(keys: readonly string[], key: string, by: number): string[] {
  const from = keys.indexOf(key);
  if (from < 0) return [...keys];
  const to = Math.min(Math.max(from + by, 0), keys.length - 1);
  const rest = keys.filter((other) => other !== key);
  return [...rest.slice(0, to), key, ...rest.slice(to)];
}

/** How much a column without a chosen width may shrink where the window is narrow. */
const shrinking = 0.87;
const checkWidth = 36;
const menuWidth = 40;
const leastName = 148;
const usualName = 260;

/** The widths of the table's columns for CSS: those that the user chose are fixed, the others share what is left. */
export function columnGrid(
  columns: readonly Column[],
  isFixed: (key: string) => boolean,
): { template: string; leastWidth: number } {
  const own = columns.map(({ key, width }) => {
    const least = isFixed(key) ? width : Math.max(leastWidth, Math.round(shrinking * width));
    return { least, text: isFixed(key) ? `${width}px` : `minmax(${least}px, ${width}fr)` };
  });
  const texts = own.map(({ text }) => text).join(' ');
  return {
    template: `${checkWidth}px minmax(${leastName}px, ${usualName}fr) ${texts} ${menuWidth}px`.replace('  ', ' '),
    leastWidth: checkWidth + leastName + menuWidth + own.reduce((sum, { least }) => sum + least, 0),
  };
}
