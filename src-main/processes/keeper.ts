/**
 * A shell between the hub and a worker, on Linux. When the hub dies, the kernel sends it PWR; it then gives the worker
 * `graceSeconds` to save its state, and kills it. When the shell itself dies, the kernel kills the worker. It passes on
 * TERM, and ends as the worker ends.
 */

/** A worker that saves ends itself a little earlier (`workers/entries/worker.ts`). */
const graceSeconds = 4;

/**
 * A shell's background process would read from /dev/null, so the worker is given the shell's own input. The shell
 * writes nothing into the worker's log. The kernel sends PWR once for each thread of a dying hub: the first counts.
 * USR1 and USR2 are no such sign: SLURM sends them to all processes of a job that is near its time limit.
 */
const scriptWith = (free: number): string => `
trap '' USR1 USR2
exec ${free}<&0
"$@" <&${free} ${free}<&- &
child=$!
exec ${free}<&- </dev/null
exec 2>/dev/null
trap 'kill -TERM $child' TERM
leave() {
  trap '' PWR
  (sleep ${graceSeconds}; kill -KILL $child) &
  timer=$!
  while kill -0 $child; do wait $child; done
  kill -KILL $timer
  exit 3
}
trap leave PWR
wait $child
code=$?
while kill -0 $child; do
  wait $child
  code=$?
done
trap - TERM
[ $code -gt 128 ] && kill -$((code - 128)) $$
exit $code
`;

/**
 * The command that runs a worker's command under the keeper.
 * @param passed number of a descriptor that the worker inherits beside the usual three; null: none
 */
export function keptCommand(command: readonly string[], passed: number | null = null): [string, ...string[]] {
  const script = scriptWith(passed === 3 ? 4 : 3);
  const dyingWithKeeper = ['setpriv', '--pdeathsig', 'KILL', '--', ...command];
  return ['setpriv', '--pdeathsig', 'PWR', '--', 'sh', '-c', script, 'tutti-keeper', ...dyingWithKeeper];
}
