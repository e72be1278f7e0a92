import { expect, it } from 'vitest';
import { packagedProgram } from '../../../src-main/start/desktop-program.ts';

it('is the packaged app where Tutti lies beside its archive, on each system', () => {
  const linux = '/opt/Tutti/resources/app.asar.unpacked';
  expect(packagedProgram(linux, 'linux')).toBe('/opt/Tutti/tutti-desktop');
  expect(packagedProgram(`${linux}/`, 'win32')).toBe('/opt/Tutti/Tutti.exe');
  const mac = '/Applications/Tutti.app/Contents';
  expect(packagedProgram(`${mac}/Resources/app.asar.unpacked`, 'darwin')).toBe(`${mac}/MacOS/Tutti`);
});

it('is no packaged app in a clone or in a package of npm', () => {
  expect(packagedProgram('/home/user/tutti', 'linux')).toBeNull();
  expect(packagedProgram('/home/user/mine/node_modules/tutti-ensembles', 'linux')).toBeNull();
});
