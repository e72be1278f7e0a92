import { describe, expect, it } from 'vitest';
import { createInferenceServer, type InferenceOptions } from '../../../src-main/serving/inference-server.ts';
import { RequestError } from '../../../src-main/serving/given-input.ts';
import { listening } from './ask.ts';
import { answered, counts, served } from './tensors.ts';

const errors: unknown[] = [];
const server = (changes: Partial<InferenceOptions> = {}) =>
  listening(
    createInferenceServer({
      ensemble: served,
      version: '1.2.3',
      batcher: { predict: async ({ tensors }) => answered(tensors), counts },
      isReady: () => true,
      token: null,
      isOwnHost: (header) => header === 'here:1',
      maxBodyBytes: 1000,
      maxSamples: 4,
      onError: (error) => errors.push(error),
      ...changes,
    }),
  );

const headers = { host: 'here:1' };
const body = { id: 'q', inputs: [{ name: 'features', datatype: 'FP32', shape: [2, 2], data: [1, 2, 3, 4] }] };
const infer = { method: 'POST' as const, url: '/v2/models/houses/infer', headers, body };

describe('the server', () => {
  it('tells what it is, and what the model takes and gives', async () => {
    const get = async (url: string) => (await server().ask({ url, headers })).json();
    expect(await get('/v2')).toEqual({ name: 'tutti', version: '1.2.3', extensions: ['binary_tensor_data'] });
    expect(await get('/v2/models/houses')).toEqual({
      name: 'houses',
      platform: 'tutti_ensemble',
      inputs: [{ name: 'features', datatype: 'FP32', shape: [-1, 2] }],
      outputs: [{ name: 'mean', datatype: 'FP64', shape: [-1, 1] }],
    });
    expect(await get('/v2/models/houses/stats')).toEqual(counts);
    expect(await get('/v2/models/flats')).toEqual({ error: 'There is no model "flats": this server has "houses".' });
  });

  it('says whether it lives and is ready', async () => {
    const statuses = async (isReady: boolean) => {
      const own = server({ isReady: () => isReady });
      const urls = ['/v2/health/live', '/v2/health/ready', '/v2/models/houses/ready'];
      return Promise.all(urls.map(async (url) => (await own.ask({ url, headers })).statusCode));
    };
    expect(await statuses(true)).toEqual([200, 200, 200]);
    expect(await statuses(false)).toEqual([200, 503, 503]);
  });

  it('answers a request with its id, whatever type its body has', async () => {
    const text = JSON.stringify(body);
    for (const type of [{}, { 'content-type': 'application/octet-stream' }]) {
      const answer = await server().ask({ ...infer, body: text, headers: { ...headers, ...type } });
      expect(answer.json()).toEqual({
        model_name: 'houses',
        id: 'q',
        outputs: [{ name: 'mean', datatype: 'FP64', shape: [2, 1], data: [3, 7] }],
      });
    }
  });

  it('answers binary tensors with binary tensors', async () => {
    const features = { ...body.inputs[0], data: undefined, parameters: { binary_data_size: 16 } };
    const json = Buffer.from(JSON.stringify({ inputs: [features], parameters: { binary_data_output: true } }));
    const payload = Buffer.concat([json, Buffer.from(Float32Array.of(1, 2, 3, 4).buffer)]);
    const length = { 'inference-header-content-length': String(json.length) };
    const answer = await server().ask({ ...infer, body: payload, headers: { ...headers, ...length } });
    const end = Number(answer.headers['inference-header-content-length']);
    expect(JSON.parse(answer.rawPayload.toString('utf8', 0, end))).toEqual({
      model_name: 'houses',
      outputs: [{ name: 'mean', datatype: 'FP64', shape: [2, 1], parameters: { binary_data_size: 16 } }],
    });
    expect([...new Float64Array(new Uint8Array(answer.rawPayload.subarray(end)).buffer)]).toEqual([3, 7]);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/octet-stream']);
  });

  it('says with each answer, also of bytes, what its reader must know', async () => {
    const cautions = ['Every set has cat: 3 samples.', 'Every set has dog: 5 samples.'];
    const own = server({ ensemble: { ...served, cautions } });
    const parameters = { caution: cautions.join(' ') };
    expect((await own.ask({ ...infer, headers })).json()).toMatchObject({ id: 'q', parameters });
    const binary = await own.ask({ ...infer, body: { ...body, parameters: { binary_data_output: true } } });
    const end = Number(binary.headers['inference-header-content-length']);
    expect(JSON.parse(binary.rawPayload.toString('utf8', 0, end))).toMatchObject({ parameters });
    expect((await server().ask(infer)).json()).not.toHaveProperty('parameters');
  });

  it('counts by column what an answer could not use, in the body and in a header', async () => {
    const warnings = [
      {
        column: 'Größe',
        rows: 4,
        missing: 2,
        mistyped: 1,
        mistypedValues: [{ value: 'groß', count: 1 }],
        unseen: 0,
        unseenValues: [],
        outside: 1,
        outsideValues: ['250'],
      },
      {
        column: 'town',
        rows: 2,
        missing: 0,
        mistyped: 0,
        mistypedValues: [],
        unseen: 1,
        unseenValues: [{ value: 'Genf', count: 1 }],
        outside: 0,
        outsideValues: [],
      },
    ];
    const predict: InferenceOptions['batcher']['predict'] = async ({ tensors }) => ({ ...answered(tensors), warnings });
    const own = server({ batcher: { predict, counts } });
    const expected = [
      {
        column: 'Größe',
        rows: 4,
        missing: 2,
        mistyped: 1,
        mistyped_values: [{ value: 'groß', count: 1 }],
        unseen: 0,
        unseen_values: [],
        outside: 1,
        outside_values: ['250'],
      },
      {
        column: 'town',
        rows: 2,
        missing: 0,
        mistyped: 0,
        mistyped_values: [],
        unseen: 1,
        unseen_values: [{ value: 'Genf', count: 1 }],
        outside: 0,
        outside_values: [],
      },
    ];
    const text = await own.ask(infer);
    expect(text.json()).toMatchObject({ id: 'q', warnings: expected });
    expect(text.headers['tutti-warnings']).toBe('missing=2, mistyped=1, unseen=1, outside=1');
    const binary = await own.ask({ ...infer, body: { ...body, parameters: { binary_data_output: true } } });
    const end = Number(binary.headers['inference-header-content-length']);
    expect(JSON.parse(binary.rawPayload.toString('utf8', 0, end))).toMatchObject({ warnings: expected });
    expect(binary.headers['tutti-warnings']).toBe('missing=2, mistyped=1, unseen=1, outside=1');
    const clean = await server().ask(infer);
    expect(clean.json()).not.toHaveProperty('warnings');
    expect(clean.headers).not.toHaveProperty('tutti-warnings');
  });

  it('forgets the request of a client that disconnects', async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>();
    const predict: InferenceOptions['batcher']['predict'] = (_request, signal) => {
      asked.resolve(signal);
      return new Promise((_succeed, fail) =>
        signal?.addEventListener('abort', () => fail(new RequestError(499, 'left'))),
      );
    };
    const own = server({ batcher: { predict, counts }, isOwnHost: () => true });
    const controller = new AbortController();
    const answer = fetch(`${await own.origin}${infer.url}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    const signal = await asked.promise;
    expect(signal?.aborted).toBe(false);
    const left = new Promise((done) => signal?.addEventListener('abort', done));
    controller.abort();
    await expect(answer).rejects.toThrow('aborted');
    await left;
  });

  it('refuses what it cannot read, with the reason', async () => {
    const post = async (changes: object) => {
      const answer = await server().ask({ ...infer, ...changes });
      return [answer.statusCode, (answer.json() as { error: string }).error] as const;
    };
    expect(await post({ body: '{' })).toEqual([400, expect.stringContaining('The body is not JSON')]);
    expect(await post({ body: { inputs: [] } })).toEqual([400, expect.stringContaining('does not fit')]);
    expect(await post({ body: 'x'.repeat(1001) })).toEqual([413, expect.stringContaining('more than 1000 bytes')]);
    const many = { ...body.inputs[0], shape: [5, 2], data: Array.from({ length: 10 }, (_, i) => i) };
    expect(await post({ body: { inputs: [many] } })).toEqual([
      413,
      expect.stringContaining('has 5 samples, and at most 4'),
    ]);
    const long = { ...headers, 'inference-header-content-length': '1000' };
    expect(await post({ headers: long })).toEqual([
      400,
      expect.stringContaining('Inference-Header-Content-Length: 1000'),
    ]);
    const packed = { ...headers, 'content-encoding': 'gzip' };
    expect(await post({ headers: packed })).toEqual([415, expect.stringContaining('without compression')]);
    expect((await server().ask({ url: '/v3', headers })).statusCode).toBe(404);
  });

  it.each([
    ['/v2?x=1', 200],
    ['http://here:1/v2', 200],
    ['/v2/models/h%6fuses', 200],
    ['/v2/', 404],
    ['/v2/models/', 404],
    ['/v2/models/houses/', 404],
    ['/v2/models/houses/nope', 404],
    ['/v2/models/:name', 404],
    ['/v2/models/%zz', 400],
    ['/v2%2Fhealth/live', 404],
    ['//v2', 404],
    ['*', 404],
  ])('answers %s with status %i, and an error as JSON', async (url, status) => {
    const answer = await server().ask({ url, headers });
    expect([answer.statusCode, Object.keys(answer.json() as object)[0]]).toEqual([
      status,
      status === 200 ? 'name' : 'error',
    ]);
  });

  it('answers HEAD without a body, and no method that an address lacks', async () => {
    const head = await server().ask({ method: 'HEAD', url: '/v2', headers });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    expect((await server().ask({ method: 'POST', url: '/v2', headers })).statusCode).toBe(404);
    expect((await server().ask({ url: infer.url, headers })).statusCode).toBe(404);
  });

  it('reads no more of a body than it takes, whether its length is announced or not', async () => {
    const own = server();
    for (const more of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await own.ask({ ...infer, body: 'x'.repeat(5000), headers: { ...headers, ...more } });
      expect([answer.statusCode, answer.headers.connection]).toEqual([413, 'close']);
    }
  });

  it('that ends answers what it has accepted, and ends the connections', async () => {
    const asked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const predict: InferenceOptions['batcher']['predict'] = async ({ tensors }) => {
      asked.resolve();
      await goOn.promise;
      return answered(tensors);
    };
    const own = server({ batcher: { predict, counts } });
    const answer = own.ask({ ...infer, headers: { ...headers, connection: 'keep-alive' } });
    await asked.promise;
    const ended = own.end();
    goOn.resolve();
    expect([(await answer).statusCode, (await answer).headers.connection]).toEqual([200, 'close']);
    await ended;
  });

  it('tells busy clients when to come again, and hides its own errors', async () => {
    const failing = async (reason: Error) => {
      const predict = async () => {
        throw reason;
      };
      return server({ batcher: { predict, counts } }).ask(infer);
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
    const own = server({ token: 'right' });
    const status = async (authorization: string | undefined) =>
      (await own.ask({ ...infer, headers: { ...headers, ...(authorization && { authorization }) } })).statusCode;
    expect([await status(undefined), await status('Bearer wrong'), await status('Bearer right')]).toEqual([
      401, 401, 200,
    ]);
    expect((await own.ask({ url: '/v2/health/ready', headers })).statusCode).toBe(200);
  });

  it('without a token refuses pages of browsers and other names of this machine', async () => {
    const status = async (own: Record<string, string>) => (await server().ask({ ...infer, headers: own })).statusCode;
    expect(await status({ host: 'evil.example:1' })).toBe(403);
    const health = await server().ask({ url: '/v2/health/live', headers: { host: 'evil.example' } });
    expect(health.json()).toEqual({ error: expect.stringContaining('"Host: evil.example" does not name this server') });
    const withToken = { host: 'evil.example:1', authorization: 'Bearer secret' };
    expect((await server({ token: 'secret' }).ask({ url: '/v2', headers: withToken })).statusCode).toBe(403);
    expect(await status({ ...headers, origin: 'https://evil.example' })).toBe(403);
    expect(await status(headers)).toBe(200);
  });
});
