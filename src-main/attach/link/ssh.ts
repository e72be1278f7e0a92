import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { errorCode } from '../../../core/node/file-error.ts';
import { startChild } from '../../processes/node-process.ts';

/** How long a machine may take to answer where nobody can press Ctrl-C. */
const connectSeconds = 20;

/**
 * The user's own ssh client, as a child process: host keys, agent, jumps and passwords are its configuration's. It must
 * not ask on the terminal once a run is shown there, nor for a page, which asks for no password.
 */
export class Ssh {
  readonly #from: string;
  /** Whether it may ask for a password. */
  mayAsk: boolean;

  constructor(from: string, { mayAsk }: { mayAsk: boolean }) {
    this.#from = from;
    this.mayAsk = mayAsk;
  }

  /**
   * Runs a script of the POSIX shell there, whatever the user's shell is.
   * @returns its output
   * @throws Error with what ssh said
   */
  async run(script: string): Promise<Buffer> {
    const child = this.#spawn(['-T'], ['sh', '-s']);
    const said = text(child.stderr);
    // It may end before it has read the script.
    child.stdin.on('error', () => undefined);
    child.stdin.end(script);
    const [output, complaint, code] = await Promise.all([buffer(child.stdout), said, ended(child)]);
    if (code === 0) return output;
    const reason = lastLine(complaint);
    throw new Error(`ssh ${this.#from} ended with exit code ${code}: ${reason}\n${sshRemedy(this.#from, reason)}`);
  }

  /** A connection from there to a port of a host. It ends with the ssh process, and `problem` then says why. */
  forward(host: string, port: number): Forward {
    const target = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const child = this.#spawn(['-W', target], []);
    const { stdin, stdout, stderr } = child;
    const problem = Promise.all([text(stderr), ended(child)]).then(
      ([complaint, code]) => lastLine(complaint) || `ssh ended with exit code ${code}`,
      (error: Error) => error.message,
    );
    const stream = Duplex.from({ readable: stdout, writable: stdin });
    // The connection over it reports the end.
    stream.on('error', () => undefined);
    return { stream, problem, end: () => void child.kill() };
  }

  #spawn(options: readonly string[], command: readonly string[]): ChildProcessWithoutNullStreams {
    const asks = this.mayAsk ? [] : ['-o', 'BatchMode=yes', '-o', `ConnectTimeout=${connectSeconds}`];
    const words = ['ssh', ...asks, ...options, '--', this.#from, ...command];
    if (process.platform === 'win32') return startChild('ssh', () => spawn(words[0], words.slice(1)));
    // A Ctrl-C reaches all processes of the terminal, and is for the run.
    return startChild('ssh', () => spawn('sh', ['-c', 'trap "" INT; exec "$@"', 'sh', ...words]));
  }
}

interface Forward {
  stream: Duplex;
  /** Resolves with what ssh said, once it has ended. */
  problem: Promise<string>;
  end(): void;
}

function ended(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      const isMissing = errorCode(error) === 'ENOENT';
      reject(isMissing ? new Error('ssh was not found. Install the OpenSSH client.', { cause: error }) : error);
    });
    child.once('close', resolve);
  });
}

function lastLine(complaint: string): string {
  return complaint.trim().split('\n').at(-1)?.trim() ?? '';
}

/** What ssh says, and what to do then. `from`: the machine as ssh takes it. */
const remedies: readonly (readonly [said: RegExp, remedy: (from: string) => string])[] = [
  [
    /permission denied|too many authentication failures/i,
    (from) =>
      `Load a key that ${from} accepts into your ssh agent (ssh-add), so that \`ssh ${from}\` logs in without ` +
      'a question.',
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
