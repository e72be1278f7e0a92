import type { Direction, MetricInfo } from './metric.ts';
import type { TaskKind } from './task-kinds.ts';

/** A project's own metric, as its description names it. */
export interface OwnMetric {
  name: string;
  direction: Direction;
  /** `prediction`: judges the ensemble and each member; `ensemble`: one value. */
  of: 'prediction' | 'ensemble';
  help: string;
}

/** Prefixes of recorded names, which no metric may have. */
const taken = /^(ens|member|product|avg_member)_/;

/** Why a project's metric cannot have this name; null if it can. */
export function whyNotNamed(name: string, registry: readonly MetricInfo[]): string | null {
  const rule = 'name it with small letters, digits and "_", beginning with a letter';
  if (!/^[a-z][a-z0-9_]*$/.test(name)) return `"${name}" cannot name a metric: ${rule}.`;
  if (registry.some((info) => info.name === name)) return `"${name}" is a metric of Tutti. Choose another name.`;
  return taken.test(name)
    ? `"${name}" begins like the name of a member's or the ensemble's metric. Omit the prefix.`
    : null;
}

/** A project's own metric in the form of the registry's. */
export function infoOfOwn({ name, direction, of, help }: OwnMetric, task: string): MetricInfo {
  const title = `${name[0].toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`;
  const text = { meaning: help, formula: 'the project’s metrics', reference: 'The project' };
  return { name, title, direction, of, tasks: [task as TaskKind], isStandard: true, ...text };
}
