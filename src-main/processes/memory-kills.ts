import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where Linux counts processes that it killed because memory was short: control groups (versions 2 and 1), then the
 * whole machine.
 */
const machineCounter = '/proc/vmstat';
const groupOfProcess = '/proc/self/cgroup';
const groups = '/sys/fs/cgroup';

/**
 * How many processes the kernel's out-of-memory killer has ended in this process's control group, or on the machine
 * where its group does not count; null where nothing counts them.
 */
export function memoryKills(read: (path: string) => string | null = readIfAny): number | null {
  const counted = counters(read(groupOfProcess) ?? '').flatMap((path) => {
    const count = /^oom_kill (\d+)$/m.exec(read(path) ?? '')?.[1];
    return count === undefined ? [] : [Number(count)];
  });
  return counted.at(0) ?? null;
}

/**
 * Paths of the counters, the most specific first. Inside a container its group is the root of the mounted hierarchy.
 */
function counters(membership: string): string[] {
  const unified = /^0::(.+)$/m.exec(membership)?.[1];
  const legacy = /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.+)$/m.exec(membership)?.[1];
  return [
    ...(unified === undefined ? [] : [join(groups, unified, 'memory.events'), join(groups, 'memory.events')]),
    ...(legacy === undefined ? [] : [join(groups, 'memory', legacy, 'memory.oom_control')]),
    join(groups, 'memory', 'memory.oom_control'),
    machineCounter,
  ];
}

/** Null where the file cannot be read: on other systems, or without the permission. */
function readIfAny(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
