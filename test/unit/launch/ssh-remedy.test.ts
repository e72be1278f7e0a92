import { expect, it } from 'vitest';
import { sshRemedy } from '../../../src-main/attach/link/ssh.ts';

it.each([
  [
    'me@login: Permission denied (publickey,password).',
    'Load a key that me@login accepts into your ssh agent (ssh-add)',
  ],
  ['Received disconnect: Too many authentication failures', 'Load a key that me@login accepts'],
  ['Host key verification failed.', 'Run `ssh me@login` once in a terminal, and compare the key.'],
  ['ssh: Could not resolve hostname login: Name or service not known', 'Check the name'],
  ['ssh: connect to host login port 22: Connection refused', 'Check that the machine is on'],
  ['ssh: connect to host login port 22: Connection timed out', 'whether a VPN leads to it'],
  ['Bad configuration option: nothing', 'Try `ssh me@login` in a terminal.'],
])('"%s": %s', (said, remedy) => {
  expect(sshRemedy('me@login', said)).toContain(remedy);
});
