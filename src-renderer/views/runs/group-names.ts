import type { GroupKey } from '../../../core/protocol/pages/runs/run-fields.ts';

/** What all runs can be grouped by, and the name of the group of those without a value. */
export const groupNames: readonly { key: GroupKey; title: string; lacks: string }[] = [
  { key: 'project', title: 'project', lacks: 'No project' },
  { key: 'sweep', title: 'sweep', lacks: 'In no sweep' },
  { key: 'tag', title: 'tag', lacks: 'No tag' },
  { key: 'status', title: 'status', lacks: 'No status' },
  { key: 'strategy', title: 'strategy', lacks: 'No strategy' },
  { key: 'task', title: 'task', lacks: 'No task' },
  { key: 'members', title: 'members', lacks: 'No members' },
  { key: 'devices', title: 'devices', lacks: 'No devices' },
  { key: 'commit', title: 'commit', lacks: 'No commit' },
];

/** The name of the group of runs without a value. */
export function lacksOf(group: GroupKey): string {
  return groupNames.find(({ key }) => key === group)?.lacks ?? 'Without this option';
}
