import { expect, it } from 'vitest';
import { temporaryFolder } from '../data/temp-folder.ts';
import { confinementFlags, passedEnvironment } from '../../../src-main/processes/confined.ts';

const user = {
  PATH: '/usr/bin',
  HOME: '/home/ada',
  LANG: 'de_DE.UTF-8',
  LC_NUMERIC: 'C',
  TZ: 'Europe/Berlin',
  TUTTI_DATA: '/data',
  TUTTI_TRUST: '/home/ada',
  LD_LIBRARY_PATH: '/opt/cuda/lib64',
  CUDA_VISIBLE_DEVICES: '0',
  OPENBLAS_NUM_THREADS: '1',
  HTTPS_PROXY: 'http://ada:password@proxy',
  https_proxy: 'http://ada:password@proxy',
  AWS_SECRET_ACCESS_KEY: 'secret',
  GITHUB_TOKEN: 'secret',
  NPM_TOKEN: 'secret',
  SSH_AUTH_SOCK: '/run/agent',
  DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/bus',
  WANDB_API_KEY: 'secret',
  MY_PATH: 'not PATH',
};
const always = [
  'PATH', 'HOME', 'LANG', 'LC_NUMERIC', 'TZ', 'TUTTI_DATA', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'OPENBLAS_NUM_THREADS',
]; // prettier-ignore

it('gives a project no secrets of the user, and proxies only with the network', () => {
  expect(Object.keys(passedEnvironment({ network: false, environment: [] }, user))).toEqual(always);
  expect(Object.keys(passedEnvironment({ network: true, environment: [] }, user))).toEqual([
    ...always,
    'HTTPS_PROXY',
    'https_proxy',
  ]);
});

it('gives a project the variables that the user allowed it', () => {
  const passed = passedEnvironment({ network: false, environment: ['WANDB_API_KEY', 'ABSENT'] }, user);
  expect(Object.keys(passed)).toEqual([...always, 'WANDB_API_KEY']);
});

it('refuses a path with "*", which Node would read as all paths with that beginning', async () => {
  const compileCache = await temporaryFolder();
  const grant = {
    read: [],
    write: [],
    network: false,
    processes: false,
    memoryBytes: null,
    environment: [],
    compileCache,
  };
  for (const path of ['/home/ada/pro*ject', '/home/ada/*', '/data/a**b']) {
    const message =
      `${path} has a "*" in its name, which the limits of Node read as every path that begins ` +
      `with ${path.split('*')[0]}`;
    expect(() => confinementFlags({ ...grant, read: [path] })).toThrow(message);
    expect(() => confinementFlags({ ...grant, write: [path] })).toThrow(message);
  }
  expect(confinementFlags({ ...grant, read: ['/home/ada/pro?ject'] })).toContain('--allow-fs-read=/home/ada/pro?ject');
});
