/** How far an update is. */
export type UpdatePhase = { name: 'none' } | { name: 'found' | 'ready'; version: string };

export interface UpdateSituation {
  /** Whether the user wants Tutti to look for updates. */
  isEnabled: boolean;
  phase: UpdatePhase;
  /** When Tutti looked last, in milliseconds since 1970; null: never. */
  checkedMs: number | null;
  nowMs: number;
  /** What trains or waits to train in this process. */
  work: number;
}

const dayMs = 86_400_000;

/** What to do now about updates. While anything trains or waits to train: nothing. */
export function nextUpdateStep({
  isEnabled,
  phase,
  checkedMs,
  nowMs,
  work,
}: UpdateSituation): 'check' | 'download' | null {
  if (!isEnabled || work > 0 || phase.name === 'ready') return null;
  if (phase.name === 'found') return 'download';
  // A clock that was set back must not postpone the next look for years.
  const isDue = checkedMs === null || nowMs - checkedMs >= dayMs || nowMs < checkedMs;
  return isDue ? 'check' : null;
}

/** Why an update cannot be installed now; null if it can. Installing restarts Tutti. */
export function whyNotInstall({ phase, work }: Pick<UpdateSituation, 'phase' | 'work'>): string | null {
  if (phase.name !== 'ready') return 'No update is ready.';
  if (work === 0) return null;
  const what = work === 1 ? 'A run trains or waits' : `${work} runs train or wait`;
  return `${what}, and installing Tutti ${phase.version} restarts it. Install it once they have ended.`;
}
