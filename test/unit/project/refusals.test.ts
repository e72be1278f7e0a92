import { describe, expect, it } from 'vitest';
import { confinementVariable } from '../../../core/protocol/machine/confinement.ts';
import { explainRefusal } from '../../../workers/project/load-project.ts';

/** As Node 24 makes them: https://nodejs.org/docs/latest-v24.x/api/permissions.html. */
function denied(permission: string, resource = ''): Error {
  const text = 'Access to this API has been restricted. Use --allow-fs-read to manage permissions.';
  return Object.assign(new Error(text), { code: 'ERR_ACCESS_DENIED', permission, resource });
}

const confined = (network: boolean) => ({ [confinementVariable]: JSON.stringify({ network }) });
const message = (error: unknown) => (error instanceof Error ? error.message : '');

describe('an error of a project that comes from a missing permission', () => {
  it.each([
    [
      denied('FileSystemRead', '/data/x.csv'),
      "read /data/x.csv. If it needs to, let it ask: permissions: { read: ['/data/x.csv'] }",
    ],
    [denied('FileSystemWrite', '/data'), "write /data. If it needs to, let it ask: permissions: { write: ['/data'] }"],
    [denied('ChildProcess'), 'start other programs. If it needs to, let it ask: permissions: { processes: true }'],
    [
      new TypeError('fetch failed', { cause: Object.assign(new Error(''), { code: 'EACCES', syscall: 'connect' }) }),
      'use the network. If it needs to, let it ask: permissions: { network: true }',
    ],
    [
      Object.assign(new Error('getaddrinfo EAI_AGAIN example.org'), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }),
      'use the network. If it needs to, let it ask: permissions: { network: true }',
    ],
  ])('says how to ask for it: %o', (error, remedy) => {
    const explained = explainRefusal(error, confined(false));
    expect(message(explained)).toBe(`${error.message}\nThe project may not ${remedy} (docs/projects.md, Permissions).`);
    expect(explained).toHaveProperty('cause', error);
  });

  it.each([
    ['of another kind', new Error('The file has no header.'), confined(false)],
    ['of a network that it may use', Object.assign(new Error('refused'), { syscall: 'connect' }), confined(true)],
    ['of a process without limits', Object.assign(new Error('refused'), { syscall: 'connect' }), {}],
    ['that is no error', 'text', confined(false)],
  ])('is unchanged if it is one %s', (_kind, error, environment) => {
    expect(explainRefusal(error, environment)).toBe(error);
  });
});
