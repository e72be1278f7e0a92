import { describe, expect, it } from 'vitest';
import { hubMethods } from '../../../core/protocol/pages/hub-methods.ts';
import { encodeRpc } from '../../../core/protocol/pages/rpc.ts';
import { openPage, openService } from './page.ts';

describe('invalid calls', () => {
  it.each([
    ['an unknown method', 'eval', ['1 + 1']],
    ['a method of every object', 'constructor', []],
    ['a method of the connection', '$close', []],
  ])('find no method: %s', async (_what, method, args) => {
    const { page } = await openService();
    const call: (options: { method: string; args: unknown[] }) => Promise<unknown> = page.hub.$callRaw;
    await expect(call({ method, args })).rejects.toThrow('not found');
    expect(page.refusals).toEqual([]);
  });

  it.each([
    ['too few arguments', 'run', []],
    ['too many', 'runs', ['all']],
    ['another type', 'deleteRun', [7]],
    ['a name that leads out of its folder', 'predictions', ['run-1', { split: 'test', name: '../../x' }]],
    ['a checkpoint outside its folder', 'deleteCheckpoints', ['run-1', { checkpoints: [{ rank: 0, name: '../run' }] }]],
    ['a point outside its folder', 'forkStart', ['run-1', 'attempt-1/../../x']],
    ['a comparison outside its folder', 'deleteComparison', ['../projects']],
    ['a fork without a point', 'startFork', ['run-1', { overrides: {}, name: null, out: null }]],
    ['an unknown member', 'updateRun', ['run-1', { status: 'finished' }]],
    ['fewer points than a view needs', 'series', ['run-1', { names: [], maximumPoints: 1, fromStep: 0, toStep: 1 }]],
    ['samples without a name of their kind', 'predictSamples', ['run-1', { ending: '../x', bytes: Uint8Array.of(1) }]],
    ['samples of no bytes', 'predictSamples', ['run-1', { ending: 'csv', bytes: new Uint8Array(0) }]],
    ['samples as text', 'predictSamples', ['run-1', { ending: 'csv', bytes: 'a,b' }]],
    ['too many samples', 'predictSamples', ['run-1', { ending: 'csv', bytes: new Uint8Array(1_000_001) }]],
    ['a file of too many bytes', 'openUpload', [{ ending: 'csv', bytes: 2 ** 30 + 1 }]],
    ['a file that names a folder', 'openUpload', [{ name: '../x.csv', bytes: 1 }]],
    ['a folder with a file outside', 'openUpload', [{ name: 'd', bytes: 1, files: [{ path: 'a/../x', bytes: 1 }] }]],
    ['a file that is its folder', 'openUpload', [{ name: '..', bytes: 1 }]],
    ['data of a path in place of an upload', 'inspectData', [{ file: { upload: '../x' }, reading: {} }]],
    ['a part of an upload that is a path', 'sendPart', ['../../x', Uint8Array.of(1)]],
    ['the samples of a path', 'predictSamples', ['run-1', { upload: '../../x' }]],
    ['inputs of a sample before the first', 'sampleInputs', ['run-1', { split: 'test', samples: [-1] }]],
    [
      'inputs of too many samples',
      'sampleInputs',
      ['run-1', { split: 'test', samples: Array.from({ length: 33 }, () => 0) }],
    ],
    ['inputs of the training split', 'sampleInputs', ['run-1', { split: 'train', samples: [0] }]],
    ['an unknown control', 'control', ['run-1', { action: 'explode' }]],
  ])('are refused with the reason: %s', async (_what, method, args) => {
    const { page } = await openService();
    const call: (options: { method: string; args: unknown[] }) => Promise<unknown> = page.hub.$callRaw;
    await expect(call({ method, args })).rejects.toThrow(`A page called ${method} with wrong arguments`);
  });

  it('are refused for an argument too many, whatever the method', async () => {
    const { page } = await openService();
    const call: (options: { method: string; args: unknown[] }) => Promise<unknown> = page.hub.$callRaw;
    for (const method of Object.keys(hubMethods)) {
      const args = ['run-1', {}, null, false, 'more'];
      await expect(call({ method, args })).rejects.toThrow(`A page called ${method} with wrong arguments`);
    }
  });

  it.each([
    ['no frame', Uint8Array.of(1, 2, 3)],
    ['no call', encodeRpc({ hello: 'hub' })],
    ['an answer that nobody waits for', encodeRpc({ t: 's', i: 'x', r: 1 })],
    ['arguments that are no list', encodeRpc({ t: 'q', i: 'x', m: 'runs', a: 'all' })],
  ])('end the connection: %s', async (_what, bytes) => {
    const { service, page } = await openService();
    page.sendRaw(bytes);
    await expect.poll(() => page.refusals).toHaveLength(1);
    expect((await openPage(service).hub.runs({})).rows).toEqual([]);
  });
});

it("reports health with the doctor's checks", async () => {
  const { page, home } = await openService();
  const health = await page.hub.health();
  expect(health).toMatchObject({ frontEnd: 'browser', versions: { node: process.versions.node } });
  expect(health.folders[0]).toEqual({ name: 'home', holds: 'All data of Tutti', path: `${home}/home` });
  expect(health.checks.find(({ name }) => name === 'backend wasm')).toMatchObject({ verdict: 'ok', remedy: null });
  expect(health.devices.length).toBeGreaterThan(0);
}, 60_000);
