import type { RunRow, SweepGroup } from '../../../../core/protocol/pages/run-list.ts';
import type { FieldValue } from '../../../../core/protocol/pages/runs/run-fields.ts';
import type { RunGroup } from '../../../../core/protocol/pages/runs/run-groups.ts';
import { rowKey } from '../run-filter.ts';
import { groupText } from './group-places.ts';

/** A row of a run in the table, or of the sweep that it stands for. */
export interface RunItem {
  kind: 'run';
  row: RunRow;
  /** The sweep that the row stands for, if it does. */
  sweep: SweepGroup | undefined;
  /** The values of the shown fields; undefined until they are read. */
  values: readonly (FieldValue | null)[] | undefined;
}

export interface GroupItem {
  kind: 'group';
  group: RunGroup;
  isOpen: boolean;
}

/** A row of the table. */
export type TableItem = RunItem | GroupItem;

/** A key that no other row of the table has, except for a run in the groups of two tags. */
export function itemKey(item: TableItem): string {
  return item.kind === 'group' ? `group ${groupText(item.group.value)}` : rowKeyOf(item);
}

/** What a selection keeps of a row: the id of its sweep or run. */
export function rowKeyOf({ row, sweep }: RunItem): string {
  return sweep === undefined ? row.id : rowKey(row);
}
