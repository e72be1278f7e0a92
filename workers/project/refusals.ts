import { type Confinement, confinementVariable } from '../../core/protocol/machine/confinement.ts';

/** What a project writes to ask for something that it was refused, by the name of Node's permission. */
const remedies: Record<string, (resource: string) => string> = {
  FileSystemRead: (path) => `read ${path}. If it needs to, let it ask: permissions: { read: ['${path}'] }`,
  FileSystemWrite: (path) => `write ${path}. If it needs to, let it ask: permissions: { write: ['${path}'] }`,
  ChildProcess: () => 'start other programs. If it needs to, let it ask: permissions: { processes: true }',
  WorkerThreads: () => 'start threads. If it needs to, let it ask: permissions: { processes: true }',
};
const network = 'use the network. If it needs to, let it ask: permissions: { network: true }';

/**
 * An error of a project's code that comes from what the project may not do, with the remedy; any other error unchanged. Errors of `fetch`
 * have their reason as their cause.
 */
export function explainRefusal(error: unknown, environment: NodeJS.ProcessEnv = process.env): unknown {
  const refused = findRefusal(error, environment);
  if (refused === null) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\nThe project may not ${refused} (docs/projects.md, Permissions).`, { cause: error });
}

function findRefusal(error: unknown, environment: NodeJS.ProcessEnv): string | null {
  if (!(error instanceof Error)) return null;
  const { code, permission, resource, syscall } = error as NodeJS.ErrnoException & {
    permission?: string;
    resource?: string;
  };
  if (code === 'ERR_ACCESS_DENIED') return remedies[permission ?? '']?.(resource ?? '') ?? null;
  if (['connect', 'getaddrinfo', 'socket', 'bind'].includes(syscall ?? '') && !mayUseNetwork(environment))
    return network;
  return findRefusal(error.cause, environment);
}

function mayUseNetwork(environment: NodeJS.ProcessEnv): boolean {
  const text = environment[confinementVariable];
  return text === undefined || (JSON.parse(text) as Confinement).network;
}
