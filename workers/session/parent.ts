/**
 * Whether the process that started this one still runs. Elsewhere an orphan gets another parent; on Windows it keeps
 * the number of the one that is gone.
 * @param parentPid the parent's number when this process started
 * @param system this process; tests give another one
 */
export function hasParent(
  parentPid: number,
  system: Pick<NodeJS.Process, 'platform' | 'ppid' | 'kill'> = process,
): boolean {
  if (system.platform !== 'win32') return system.ppid === parentPid;
  try {
    return system.kill(parentPid, 0);
  } catch (error) {
    // Another error means that it runs, and that this process has no rights over it.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
