/** A run on another machine, as `tutti attach` and the pages take it. */
export interface RemoteTarget {
  /** As ssh takes it: `user@login`, or a name of its configuration. */
  from: string;
  /** The run's id, name, folder, or the beginning of its id or name; empty: the only one. */
  run: string;
}

/** `user@login:run`; null for a run of this machine: a text without a colon, or a path of Windows. @throws Error if ssh would take it for an option */
export function parseTarget(text: string): RemoteTarget | null {
  const found = /^([^:/\\]{2,}):(.*)$/.exec(text);
  if (found === null) return null;
  const [, from, run] = found;
  if (/^[\w.@%+-]+$/.test(from) && !from.startsWith('-')) return { from, run };
  throw new Error(`"${from}" is no host as ssh takes it: user@login, or a name of its configuration.`);
}
