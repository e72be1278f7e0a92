import { createHash, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { ServedEnsemble } from '../../core/ensemble/serving.ts';
import { messageOf } from '../../core/text/errors.ts';
import { endSlowReaders, requestLimits } from '../server/address.ts';
import type { Batcher } from './batcher.ts';
import { answerBody, lengthHeader, splitBody } from './infer-body.ts';
import { readInferRequest } from './read-request.ts';
import { RequestError } from './given-input.ts';

export interface InferenceApp {
  ensemble: ServedEnsemble;
  /** The version of Tutti. */
  version: string;
  batcher: Pick<Batcher, 'predict' | 'counts'>;
  isReady: () => boolean;
  /** Requests must bring it, apart from those for health; null: none. */
  token: string | null;
  /**
   * Whether a request names this server in its header `Host`, which those of a foreign page do not: only this machine
   * reaches it, or else any name may lead to it.
   */
  isOwnHost: (header: string) => boolean;
  maxBodyBytes: number;
  /** The most samples of a request, because the outputs of many could fill the memory. */
  maxSamples: number;
  /** Called with errors of the server itself. */
  onError: (error: unknown) => void;
}

const retryAfterSeconds = '1';

/** The Open Inference Protocol (version 2) over HTTP. Errors are `{ error }`. */
export function createInferenceApp(parts: InferenceApp): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: parts.maxBodyBytes,
    requestTimeout: requestLimits.requestTimeout,
    http: requestLimits,
    routerOptions: { maxParamLength: 1000 },
  });
  // Clients of the protocol name several types, or none.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) => sendError(error, reply, parts));
  app.setNotFoundHandler(() => {
    throw new RequestError(404, 'There is nothing here. The server begins at /v2.');
  });
  app.addHook('onRequest', (request, _reply, done) => {
    requireEntrance(request, parts);
    done();
  });
  endSlowReaders(app.server);
  endConnections(app);
  addServer(app, parts);
  addModel(app, parts);
  return app;
}

/** While the server ends, answers end their connections: idle ones would hold it for seconds. */
function endConnections(app: FastifyInstance): void {
  let isEnding = false;
  app.addHook('preClose', (done) => {
    isEnding = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isEnding) void reply.header('connection', 'close');
    done();
  });
}

function addServer(app: FastifyInstance, { version, isReady }: InferenceApp): void {
  app.get('/v2', () => ({ name: 'tutti', version, extensions: ['binary_tensor_data'] }));
  app.get('/v2/health/live', () => ({ live: true }));
  app.get('/v2/health/ready', (_request, reply) => reply.code(isReady() ? 200 : 503).send({ ready: isReady() }));
}

function addModel(app: FastifyInstance, { ensemble, batcher, isReady, maxSamples }: InferenceApp): void {
  const { name, inputs, outputs } = ensemble;
  const requireModel = (request: FastifyRequest): void => {
    const asked = (request.params as { name: string }).name;
    if (asked !== name) throw new RequestError(404, `There is no model "${asked}": this server has "${name}".`);
  };
  app.get('/v2/models/:name', (request) => {
    requireModel(request);
    const infos = inputs.map(({ kind: _kind, ...info }) => info);
    return { name, platform: 'tutti_ensemble', inputs: infos, outputs };
  });
  app.get('/v2/models/:name/ready', (request, reply) => {
    requireModel(request);
    return reply.code(isReady() ? 200 : 503).send({ name, ready: isReady() });
  });
  app.get('/v2/models/:name/stats', (request) => {
    requireModel(request);
    return batcher.counts;
  });
  app.post('/v2/models/:name/infer', async (request, reply) => {
    requireModel(request);
    const { json, binary } = bodyOf(request);
    const read = readInferRequest(json, ensemble, binary);
    if (read.samples > maxSamples) {
      const reason = `The request has ${read.samples} samples, and at most ${maxSamples} are taken: send fewer at a time.`;
      throw new RequestError(413, reason);
    }
    const answer = await batcher.predict(read, leaving(reply));
    const { bytes, headers } = answerBody(name, read, answer, ensemble.cautions);
    return reply.headers(headers).send(bytes);
  });
}

/**
 * Aborted when the client disconnects before its answer. (Fastify's `request.signal` is also aborted once the body has
 * been read.)
 */
function leaving({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once('close', () => raw.writableFinished || controller.abort());
  return controller.signal;
}

function bodyOf({ headers, body }: FastifyRequest): ReturnType<typeof splitBody> {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    throw new RequestError(415, `The body has the encoding "${encoding}": send it without compression.`);
  }
  const length = headers[lengthHeader];
  return splitBody(Buffer.isBuffer(body) ? body : Buffer.alloc(0), Array.isArray(length) ? length.join() : length);
}

/** @throws RequestError if the sender may not use the server */
function requireEntrance({ headers, url }: FastifyRequest, { token, isOwnHost }: InferenceApp): void {
  // Any page that a browser of this machine shows could send requests here, under a name of its own that leads to this
  // machine.
  if (!isOwnHost(headers.host ?? '')) {
    throw new RequestError(
      403,
      `The header "Host: ${headers.host ?? ''}" does not name this server, which only programs of this machine ` +
        'reach. Use 127.0.0.1 or localhost.',
    );
  }
  if (url.startsWith('/v2/health/')) return;
  if (token !== null) {
    if (isSame(headers.authorization ?? '', `Bearer ${token}`)) return;
    throw new RequestError(
      401,
      'The header "Authorization: Bearer <token>" is missing or wrong. The server printed its token when it started.',
    );
  }
  if (headers.origin === undefined) return;
  throw new RequestError(403, 'Without a token the server answers programs, and no pages. Start it with --token.');
}

/** Takes the same time wherever the texts differ. */
function isSame(given: string, right: string): boolean {
  const [a, b] = [given, right].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a, b);
}

function sendError(error: unknown, reply: FastifyReply, { onError, maxBodyBytes }: InferenceApp): FastifyReply {
  const status = statusOf(error);
  if (status === 503) void reply.header('retry-after', retryAfterSeconds);
  if (status === 401) void reply.header('www-authenticate', 'Bearer');
  if (status === 413 && !(error instanceof RequestError))
    return reply
      .code(413)
      .send({ error: `The body has more than ${maxBodyBytes} bytes: send fewer samples at a time.` });
  if (status < 500 || error instanceof RequestError) return reply.code(status).send({ error: messageOf(error) });
  onError(error);
  return reply.code(500).send({ error: 'The server failed; see its terminal for the reason.' });
}

/** Errors of fastify have a status too. */
function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null;
  return typeof status === 'number' && status >= 400 ? status : 500;
}
