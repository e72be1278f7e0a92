/** What ssh says, and what to do then. `from`: the machine as ssh takes it. */
const remedies: readonly (readonly [said: RegExp, remedy: (from: string) => string])[] = [
  [
    /permission denied|too many authentication failures/i,
    (from) =>
      `Load a key that ${from} accepts into your ssh agent (ssh-add), so that \`ssh ${from}\` logs in without a question.`,
  ],
  [
    /host key verification failed|host identification has changed|no .* host key is known/i,
    (from) =>
      `The host key of ${from} is new or has changed. Run \`ssh ${from}\` once in a terminal, and compare the key.`,
  ],
  [
    /could not resolve/i,
    () => 'Check the name: it is one of your ssh configuration (~/.ssh/config), or one that the network knows.',
  ],
  [
    /timed out|connection refused|unreachable|no route|connection closed|connection reset/i,
    () => 'Check that the machine is on, that its sshd runs, and whether a VPN leads to it.',
  ],
];

/** What to do when ssh failed. @param said its last line */
export function sshRemedy(from: string, said: string): string {
  const found = remedies.find(([pattern]) => pattern.test(said));
  return found === undefined ? `Try \`ssh ${from}\` in a terminal.` : found[1](from);
}
