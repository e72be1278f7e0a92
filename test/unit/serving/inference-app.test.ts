import { describe, expect, it } from 'vitest';
import { createInferenceApp, type InferenceApp } from '../../../src-main/serving/inference-app.ts';
import { RequestError } from '../../../src-main/serving/read-request.ts';
import { served, sums } from './tensors.ts';

const errors: unknown[] = [];
const app = (changes: Partial<InferenceApp> = {}) =>
  createInferenceApp({
    ensemble: served,
    version: '1.2.3',
    batcher: { predict: async ({ tensors }) => sums(tensors) },
    isReady: () => true,
    token: null,
    isOwnHost: (header) => header === 'here:1',
    maxBodyBytes: 1000,
    onError: (error) => errors.push(error),
    ...changes,
  });

const headers = { host: 'here:1' };
const body = { id: 'q', inputs: [{ name: 'features', datatype: 'FP32', shape: [2, 2], data: [1, 2, 3, 4] }] };
const infer = { method: 'POST' as const, url: '/v2/models/houses/infer', headers, body };

describe('the server', () => {
  it('tells what it is, and what the model takes and gives', async () => {
    const get = async (url: string) => (await app().inject({ url, headers })).json<unknown>();
    expect(await get('/v2')).toEqual({ name: 'tutti', version: '1.2.3', extensions: [] });
    expect(await get('/v2/models/houses')).toEqual({
      name: 'houses',
      platform: 'tutti_ensemble',
      inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 2] }],
      outputs: [{ name: 'mean', datatype: 'FP64', shape: [-1, 1] }],
    });
    expect(await get('/v2/models/flats')).toEqual({ error: 'There is no model "flats": this server has "houses".' });
  });

  it('says whether it lives and is ready', async () => {
    const statuses = async (isReady: boolean) => {
      const own = app({ isReady: () => isReady });
      const urls = ['/v2/health/live', '/v2/health/ready', '/v2/models/houses/ready'];
      return Promise.all(urls.map(async (url) => (await own.inject({ url, headers })).statusCode));
    };
    expect(await statuses(true)).toEqual([200, 200, 200]);
    expect(await statuses(false)).toEqual([200, 503, 503]);
  });

  it('answers a request with its id, whatever type its body has', async () => {
    const text = JSON.stringify(body);
    for (const type of [{}, { 'content-type': 'application/octet-stream' }]) {
      const answer = await app().inject({ ...infer, body: text, headers: { ...headers, ...type } });
      expect(answer.json()).toEqual({
        model_name: 'houses',
        id: 'q',
        outputs: [{ name: 'mean', datatype: 'FP64', shape: [2, 1], data: [3, 7] }],
      });
    }
  });

  it('refuses what it cannot read, with the reason', async () => {
    const post = async (changes: object) => {
      const answer = await app().inject({ ...infer, ...changes });
      return [answer.statusCode, answer.json<{ error: string }>().error] as const;
    };
    expect(await post({ body: '{' })).toEqual([400, expect.stringContaining('The body is not JSON')]);
    expect(await post({ body: { inputs: [] } })).toEqual([400, expect.stringContaining('does not fit')]);
    expect(await post({ body: 'x'.repeat(1001) })).toEqual([413, expect.stringContaining('more than 1000 bytes')]);
    const binary = { ...headers, 'inference-header-content-length': '10' };
    expect(await post({ headers: binary })).toEqual([400, expect.stringContaining('binary tensors')]);
    expect((await app().inject({ url: '/v3', headers })).statusCode).toBe(404);
  });

  it('tells busy clients when to come again, and hides its own errors', async () => {
    const failing = async (reason: Error) => {
      const predict = async () => {
        throw reason;
      };
      return app({ batcher: { predict } }).inject(infer);
    };
    const busy = await failing(new RequestError(503, 'too many'));
    expect([busy.statusCode, busy.headers['retry-after'], busy.json()]).toEqual([503, '1', { error: 'too many' }]);
    const fault = new Error('a secret');
    const broken = await failing(fault);
    expect([broken.statusCode, broken.body.includes('secret'), errors]).toEqual([500, false, [fault]]);
  });
});

describe('an entrance', () => {
  it('asks for the token, but not for health', async () => {
    const own = app({ token: 'right' });
    const status = async (authorization: string | undefined) =>
      (await own.inject({ ...infer, headers: authorization === undefined ? {} : { authorization } })).statusCode;
    expect([await status(undefined), await status('Bearer wrong'), await status('Bearer right')]).toEqual([
      401, 401, 200,
    ]);
    expect((await own.inject({ url: '/v2/health/ready' })).statusCode).toBe(200);
  });

  it('without a token refuses pages of browsers and other names of this machine', async () => {
    const status = async (own: Record<string, string>) => (await app().inject({ ...infer, headers: own })).statusCode;
    expect(await status({ host: 'evil.example:1' })).toBe(403);
    expect(await status({ ...headers, origin: 'https://evil.example' })).toBe(403);
    expect(await status(headers)).toBe(200);
  });
});
