import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { notRoot, notRun } from '../../environment/reasons.ts';
import { noPermissions } from '../../../core/protocol/run/permissions.ts';
import { homePaths } from '../../../src-main/store/home.ts';
import { appFile } from '../../../src-main/processes/app-files.ts';
import { describeGrant, grantFor } from '../../../src-main/trust/grant.ts';
import {
  allowedPermissions,
  allowPermissions,
  noProject,
  requirePermissions,
  requireTrust,
  trustFolder,
  trustOf,
  UntrustedError,
  withdrawTrust,
} from '../../../src-main/trust/project-trust.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-trust-')));
  vi.stubEnv('TUTTI_HOME', join(root, 'home'));
  vi.stubEnv('TUTTI_TRUST', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

function folder(...names: string[]): string {
  const path = join(root, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('trust of a folder', () => {
  it('is refused until the user gives it, with the remedies, and again once it is withdrawn', async () => {
    const project = folder('project');
    expect(() => requireTrust(project)).toThrow(UntrustedError);
    expect(() => requireTrust(project)).toThrow(
      `The project in ${project} is not trusted, so nothing of it was run. Training runs its code with your rights. ` +
        `If you trust it: tutti trust ${project} (or --trust, or the button Trust on the page Projects).`,
    );
    await trustFolder(project);
    expect(requireTrust(project)).toBe(project);
    await withdrawTrust(project);
    expect(() => requireTrust(project)).toThrow(UntrustedError);
  });

  it('holds for the folders in it, but not for its neighbours or for what links in it lead to', async () => {
    const [inside, neighbour, elsewhere] = [folder('mine', 'deep', 'project'), folder('mine-2'), folder('elsewhere')];
    await trustFolder(join(root, 'mine'));
    symlinkSync(elsewhere, join(root, 'mine', 'link'));
    expect(trustOf(inside).by).toBe('user');
    expect(trustOf(neighbour).by).toBeNull();
    expect(trustOf(join(root, 'mine', 'link'))).toMatchObject({ folder: elsewhere, by: null });
    expect(trustOf(root).by).toBeNull();
  });

  it('resolves links before it is given', async () => {
    const project = folder('project');
    symlinkSync(project, join(root, 'link'));
    await trustFolder(join(root, 'link'));
    expect(trustOf(project).by).toBe('user');
  });

  it('is given to the examples of the package and to folders that TUTTI_TRUST names', () => {
    const project = folder('project');
    expect(trustOf(appFile('examples/00_heteroscedastic_regression')).by).toBe('example');
    expect(trustOf(appFile('test')).by).toBeNull();
    vi.stubEnv('TUTTI_TRUST', `/absent:${root}`);
    expect(trustOf(project).by).toBe('environment');
  });

  const title = 'of a folder above does not cover a folder of another user, which must be trusted itself';
  it.skipIf(notRoot !== null)(`${title}${notRun(notRoot)}`, async () => {
    const project = folder('shared', 'project');
    await trustFolder(join(root, 'shared'));
    chownSync(project, 4001, 4001);
    expect(trustOf(project)).toMatchObject({ by: null, warning: expect.stringContaining('another user (uid 4001)') });
    await trustFolder(project);
    expect(trustOf(project).by).toBe('user');
    chownSync(project, 4002, 4002);
    expect(trustOf(project).by).toBeNull();
  });

  it('warns of a folder that all users may write to', () => {
    const project = folder('project');
    expect(trustOf(project).warning).toBeNull();
    chmodSync(project, 0o777);
    expect(trustOf(project).warning).toBe(
      'All users of this machine may write to it, who can change its code at any time.',
    );
  });

  it('is not given to a whole disk, nor to a folder that does not exist', async () => {
    await expect(trustFolder('/')).rejects.toThrow('/ cannot be trusted as a whole');
    await expect(trustFolder(join(root, 'absent'))).rejects.toThrow('There is no project in');
    expect(() => requireTrust(join(root, 'absent'))).toThrow('There is no project in');
  });

  it('is not given to a file: a project is its folder', async () => {
    const project = folder('project');
    const [entry, notes] = [join(project, 'project.ts'), join(project, 'notes.csv')];
    for (const file of [entry, notes]) writeFileSync(file, '');
    const rule = (file: string): string => `${file} is a file. A project is a folder with a project.ts`;
    for (const file of [entry, notes]) {
      const remedy = `${rule(file)}: name the folder ${project} instead.`;
      expect(() => requireTrust(file)).toThrow(remedy);
      await expect(trustFolder(file)).rejects.toThrow(remedy);
      expect(noProject(file)).toBe(remedy);
    }
    const table = join(root, 'table.csv');
    writeFileSync(table, 'a,b');
    expect(() => requireTrust(table)).toThrow(
      `${rule(table)}, and this file lies beside none. \`tutti create <folder> --template ` +
        `tabular\` writes one for a table.`,
    );
  });

  it('is never guessed from a damaged list', () => {
    folder('home');
    writeFileSync(homePaths().trust, '{"folders": [{"folder": "/"}]');
    expect(() => requireTrust(root)).toThrow(`${homePaths().trust} is damaged: it must list the trusted folders`);
  });
});

describe('permissions of a project', () => {
  const asked = { ...noPermissions, network: true, read: ['/data'], environment: ['API_KEY'] };

  it('are asked for once, and again when the project asks for more', async () => {
    const project = folder('project');
    await trustFolder(root);
    expect(() => requirePermissions(project, noPermissions)).not.toThrow();
    expect(() => requirePermissions(project, asked)).toThrow(
      'it reads /data, uses the network, reads the environment variable API_KEY. If you allow that: tutti trust',
    );
    await allowPermissions(project, asked);
    expect(() => requirePermissions(project, asked)).not.toThrow();
    expect(() => requirePermissions(project, { ...asked, write: ['/data'] })).toThrow('it reads and writes /data.');
    expect(allowedPermissions(folder('other'))).toEqual(noPermissions);
  });

  it('end with the trust', async () => {
    const project = folder('project');
    await trustFolder(root);
    await allowPermissions(project, asked);
    await withdrawTrust(root);
    expect(allowedPermissions(project)).toEqual(noPermissions);
  });
});

describe('withdrawing trust', () => {
  it('says what keeps a folder trusted: one above, the environment, or that it is an example', async () => {
    const project = folder('above', 'project');
    await trustFolder(join(root, 'above'));
    await trustFolder(project);
    const above = join(root, 'above');
    await expect(withdrawTrust(project)).rejects.toThrow(
      `${project} stays trusted, because ${above} above it is. Remove that one (tutti trust --remove ${above})`,
    );
    await withdrawTrust(above);
    expect(trustOf(project).by).toBeNull();
    vi.stubEnv('TUTTI_TRUST', above);
    await expect(withdrawTrust(project)).rejects.toThrow(`stays trusted: the variable TUTTI_TRUST names ${above}.`);
    const example = appFile('examples/00_heteroscedastic_regression');
    await expect(withdrawTrust(example)).rejects.toThrow('it belongs to the examples of Tutti');
  });

  it('of a folder that is not trusted, or of a mistyped one, says that nothing was removed', async () => {
    const project = folder('project');
    const typed = join(root, 'projekt');
    for (const other of [project, typed]) {
      await expect(withdrawTrust(other)).rejects.toThrow(`${other} is not among the trusted folders`);
    }
    await trustFolder(project);
    rmSync(project, { recursive: true });
    await withdrawTrust(project);
    await expect(withdrawTrust(project)).rejects.toThrow('nothing was removed');
  });
});

it('a process reads the packages of Tutti where they really lie, which nobody needs to be told', () => {
  const grant = grantFor({ project: null });
  expect(grant.read).toContain(realpathSync(appFile('node_modules')));
  expect(describeGrant(grant)[0]).toBe('reads Tutti');
});

it('lets workers read what was set up in the home: TensorFlow, WebGPU and OpenBLAS', () => {
  const { tensorflow, webgpu, blas } = homePaths();
  for (const folder of [tensorflow, webgpu, blas]) mkdirSync(folder, { recursive: true });
  expect(grantFor({ project: null }).read).toEqual(expect.arrayContaining([tensorflow, webgpu, blas]));
});
