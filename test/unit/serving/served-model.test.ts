import { describe, expect, it, vi } from 'vitest';
import type { EnsembleSource } from '../../../core/protocol/run/checkpoint-tasks.ts';
import type { ServeReply, ServeRequest } from '../../../core/ensemble/serving.ts';
import { ServedModel } from '../../../src-main/serving/served-model.ts';
import { features, predicted, served, sums } from './tensors.ts';

const task: EnsembleSource = { folder: '/run', set: null, source: null, blas: null };
const asked: ServeRequest = { tensors: [features(1, 2)], outputs: null, parts: [1] };
const nothing = { type: 'predicted' as const, outputs: [], warnings: [] };

interface Started {
  sent: unknown[];
  reply: (reply: ServeReply) => void;
  end: (reason: string) => void;
}

/** Processes in memory, which the test answers for. */
function processes() {
  const started: Started[] = [];
  const notices: string[] = [];
  const start = () => {
    const own: Started = { sent: [], reply: () => {}, end: () => {} };
    started.push(own);
    return {
      send: (message: unknown) => void own.sent.push(message),
      onReply: (receive: typeof own.reply) => void (own.reply = receive),
      onEnd: (ended: typeof own.end) => void (own.end = ended),
      kill: () => own.end('signal SIGKILL'),
    };
  };
  const model = new ServedModel(start, task, (text) => notices.push(text), { inputsTimeoutMs: 5 });
  return { model, started, notices };
}

const settle = () => new Promise((done) => setImmediate(done));

describe('the process that predicts', () => {
  it('gets its task, then samples, and answers', async () => {
    const { model, started } = processes();
    expect([model.isReady, started[0].sent]).toEqual([false, [task]]);
    started[0].reply({ type: 'ready', ensemble: served });
    expect(await model.opened).toBe(served);
    const answer = model.predict(asked);
    await settle();
    expect([model.isReady, started[0].sent[1]]).toEqual([true, asked]);
    started[0].reply({ type: 'predicted', ...predicted(asked.tensors, asked.parts) });
    expect(await answer).toEqual({ outputs: sums(asked.tensors), warnings: [[]] });
  });

  it('is started again once; what it predicted when it died fails', async () => {
    const { model, started, notices } = processes();
    started[0].reply({ type: 'ready', ensemble: served });
    const failed = model.predict(asked);
    await settle();
    started[0].end('signal SIGKILL');
    await expect(failed).rejects.toMatchObject({ statusCode: 503 });
    expect([started.length, model.isReady]).toEqual([2, false]);
    expect(notices).toEqual(['The process that predicts ended (signal SIGKILL). It is started again.']);
    const answer = model.predict(asked);
    started[1].reply({ type: 'ready', ensemble: served });
    await settle();
    started[1].reply(nothing);
    expect(await answer).toEqual({ outputs: [], warnings: [] });
    started[1].end('exit code 7');
    expect((await model.lost).message).toBe('The process that predicts ended (exit code 7).');
    expect(started).toHaveLength(2);
  });

  it('is ended and started again each time that the inputs() of the project hang, but not while models predict', async () => {
    const { model, started, notices } = processes();
    const takesColumns = { ...served, takesColumns: true };
    const rows: ServeRequest = { tensors: [{ ...features(1, 2), name: 'age' }], outputs: null, parts: [1] };
    started[0].reply({ type: 'ready', ensemble: takesColumns });
    for (const turn of [1, 2, 3]) {
      await expect(model.predict(rows)).rejects.toMatchObject({ statusCode: 504 });
      expect(started).toHaveLength(turn + 1);
      started[turn].reply({ type: 'ready', ensemble: takesColumns });
    }
    expect(notices[0]).toMatch(/inputs\(\) made no samples of these rows within 0\.005 s .* It is started again\.$/);
    vi.useFakeTimers();
    const answer = model.predict(asked);
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    started[3].reply(nothing);
    expect(await answer).toEqual({ outputs: [], warnings: [] });
  });

  it('may die while it opens the ensemble, once', async () => {
    const { model, started } = processes();
    const opened = model.opened;
    started[0].end('exit code 1');
    started[1].end('exit code 1');
    await expect(opened).rejects.toThrow('ended (exit code 1)');
  });

  it('says why an ensemble cannot be opened, and which samples do not fit', async () => {
    const broken = processes();
    broken.started[0].reply({ type: 'failed', message: 'weights are damaged', stack: '' });
    await expect(broken.model.opened).rejects.toThrow('weights are damaged');
    expect(broken.started).toHaveLength(1);
    const { model, started } = processes();
    started[0].reply({ type: 'ready', ensemble: served });
    const answer = model.predict(asked);
    await settle();
    started[0].reply({ type: 'failed', message: '"big" is not a number', stack: '' });
    await expect(answer).rejects.toMatchObject({ statusCode: 400, message: '"big" is not a number' });
  });

  it('refuses samples once the server has ended it', async () => {
    const { model, started } = processes();
    started[0].reply({ type: 'ready', ensemble: served });
    await model.opened;
    model.close();
    await expect(model.predict(asked)).rejects.toMatchObject({ statusCode: 503 });
    expect(started).toHaveLength(1);
  });
});
