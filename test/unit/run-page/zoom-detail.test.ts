import { createPinia } from 'pinia';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSSRApp, effectScope, shallowReactive } from 'vue';
import type { SeriesRequest } from '../../../core/protocol/pages/run-data.ts';
import type { MetricPoints } from '../../../core/protocol/wire/points.ts';
import { DebiasedSmoothing, longestMemory, maximumSmoothing } from '../../../src-renderer/charts/smoothing.ts';
import { useChartView } from '../../../src-renderer/charts/series/chart-view.ts';
import { hubClientKey } from '../../../src-renderer/client/use-hub.ts';
import type { MetricColumns } from '../../../src-renderer/stores/metric-columns.ts';
import type { RunStore } from '../../../src-renderer/stores/run.ts';
import { useToastsStore } from '../../../src-renderer/stores/toasts.ts';
import { stepsAround, useZoomDetail, withDetail } from '../../../src-renderer/views/run/charts/use-zoom-detail.ts';

function metric(steps: number[], fields: Partial<MetricColumns> = {}): MetricColumns {
  const step = Int32Array.from(steps);
  return {
    name: 'a',
    epoch: step.map((at) => at / 100),
    step,
    timeMs: new Float64Array(steps.length).fill(NaN),
    value: Float64Array.from(steps, (at) => at / 10),
    length: steps.length,
    version: 3,
    isThinned: true,
    stepsPerPoint: 0,
    ...fields,
  };
}

function points(from: number, to: number): MetricPoints {
  const step = Int32Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const value = Float64Array.from(step, (at) => at / 10);
  return { name: 'a', epoch: step.map((at) => at / 100), step, value, total: step.length };
}

const stepsOf = ({ step, length }: MetricColumns) => [...step.subarray(0, length)];
const lineOf = ({ step, epoch, value, length, version }: MetricColumns) => {
  return { x: { step, epoch: Float64Array.from(epoch), time: null }, y: value, length, version };
};
/** Every tenth of 1000 points. */
const thinned = metric(Array.from({ length: 100 }, (_, at) => 10 * at));

describe('a detail', () => {
  it('is bounded by the ends of its metric, which define the axis', () => {
    const shown = withDetail(thinned, { points: points(200, 204), version: -1, reachesEnd: false });
    expect(stepsOf(shown)).toEqual([0, 200, 201, 202, 203, 204, 990]);
    expect([...shown.value]).toEqual([0, 20, 20.1, 20.2, 20.3, 20.4, 99]);
    expect(shown).toMatchObject({ length: 7, version: -1, isThinned: false });
  });

  it('continues with later points if it reaches the end', () => {
    const detail = { points: points(985, 990), version: -1, reachesEnd: true };
    expect(stepsOf(withDetail(thinned, detail)).slice(1)).toEqual([985, 986, 987, 988, 989, 990]);
    const longer = metric([...stepsOf(thinned), 991, 992]);
    expect(stepsOf(withDetail(longer, detail)).slice(-3)).toEqual([990, 991, 992]);
  });

  it('with points read before the window, is smoothed like the whole', () => {
    // A loss that starts high. Restarted smoothing would show it for hundreds of points.
    const valueAt = (step: number) => (step === 0 ? 100 : step % 2);
    const whole = Float64Array.from({ length: 2100 }, (_, step) => valueAt(step));
    const expected = new DebiasedSmoothing(maximumSmoothing).extend(whole, whole.length);
    const read = points(2000 - longestMemory, 2020);
    const detail = {
      points: { ...read, value: Float64Array.from(read.step, valueAt) },
      version: -1,
      reachesEnd: false,
    };
    const long = metric([0, 2099], { value: Float64Array.of(100, 1) });
    const shown = withDetail(long, detail);
    const smoothed = new DebiasedSmoothing(maximumSmoothing).extend(shown.value, shown.length);
    for (let step = 2000; step <= 2020; step += 1) {
      expect(smoothed[shown.step.indexOf(step)]).toBeCloseTo(expected[step], 3);
    }
  });

  it('covers the window and the nearest points outside', () => {
    expect(stepsAround(lineOf(thinned), 'step', { from: 203, to: 218 })).toEqual({ from: 200, to: 220 });
    expect(stepsAround(lineOf(thinned), 'epoch', { from: 2, to: 3 })).toEqual({ from: 190, to: 400 });
    expect(stepsAround(lineOf(thinned), 'step', { from: -5, to: 5000 })).toEqual({ from: 0, to: 990 });
    expect(stepsAround(lineOf(thinned), 'time', { from: 0, to: 1 })).toBeNull();
  });
});

describe('zooming', () => {
  afterEach(() => void vi.useRealTimers());

  function open() {
    vi.useFakeTimers();
    const requests: SeriesRequest[] = [];
    const answers: ((fails?: Error) => void)[] = [];
    const series = (_id: string, request: SeriesRequest) => {
      requests.push(request);
      const { promise, resolve, reject } = Promise.withResolvers<{ series: MetricPoints[] }>();
      const whole = points(request.fromStep ?? 0, request.toStep ?? 0);
      answers.push((fails) => (fails === undefined ? resolve({ series: [whole] }) : reject(fails)));
      return promise;
    };
    const columns = shallowReactive(new Map([['a', thinned]]));
    const run = { id: 'r', columns, isLoading: false } as unknown as RunStore;
    const app = createSSRApp({});
    app.use(createPinia()).provide(hubClientKey, { hub: { series } } as never);
    const scope = effectScope();
    const opened = app.runWithContext(() =>
      scope.run(() => {
        const chartView = useChartView();
        return { chartView, detailed: useZoomDetail(run, chartView, lineOf), toasts: useToastsStore() };
      }),
    );
    if (opened === undefined) throw new Error('The scope did not run.');
    const answer = async (fails?: Error) => {
      answers.shift()?.(fails);
      await vi.advanceTimersByTimeAsync(0);
    };
    const settle = () => vi.advanceTimersByTimeAsync(200);
    return { ...opened, columns, requests, answer, settle };
  }

  it('rereads thinned points once the zoom has settled, and shows them until the zoom leaves them', async () => {
    const { chartView, detailed, requests, answer, settle } = open();
    chartView.zoom = { from: 100, to: 900 };
    chartView.zoom = { from: 203, to: 218 };
    await settle();
    expect(requests).toEqual([{ names: ['a'], maximumPoints: 20_000, fromStep: 200, toStep: 220 }]);
    expect(detailed(thinned)).toBe(thinned);
    await answer();
    expect(stepsOf(detailed(thinned))).toEqual([0, ...points(200, 220).step, 990]);

    chartView.zoom = { from: 205, to: 210 };
    await settle();
    expect(requests).toHaveLength(1);
    expect(detailed(thinned).isThinned).toBe(false);
    chartView.zoom = { from: 500, to: 600 };
    expect(detailed(thinned)).toBe(thinned);
    chartView.zoom = null;
    await settle();
    expect(requests).toHaveLength(1);
  });

  it('reads a thousand extra points before the window, for smoothing', async () => {
    const { chartView, columns, requests, settle } = open();
    columns.set('a', { ...thinned, stepsPerPoint: 0.05 });
    chartView.zoom = { from: 203, to: 218 };
    await settle();
    expect(requests).toMatchObject([{ fromStep: 150, toStep: 220 }]);
    chartView.zoom = { from: 3, to: 8 };
    await settle();
    expect(requests.at(-1)).toMatchObject({ fromStep: 0, toStep: 10 });
  });

  it('drops an answer that arrives after the zoom has changed', async () => {
    const { chartView, detailed, answer, settle } = open();
    chartView.zoom = { from: 203, to: 218 };
    await settle();
    chartView.zoom = { from: 700, to: 800 };
    await answer();
    expect(detailed(thinned)).toBe(thinned);
    await settle();
    await answer();
    expect(stepsOf(detailed(thinned)).slice(1, 3)).toEqual([690, 691]);
  });

  it('shows new points if it reaches the end', async () => {
    const { chartView, detailed, columns, answer, settle } = open();
    chartView.zoom = { from: 985, to: 1000 };
    await settle();
    await answer();
    columns.set('a', metric([...stepsOf(thinned), 991]));
    const shown = detailed(columns.get('a') ?? thinned);
    expect(stepsOf(shown)).toEqual([0, ...points(980, 990).step, 991]);
  });

  it('shows the error and keeps the current points', async () => {
    const { chartView, detailed, toasts, answer, settle } = open();
    chartView.zoom = { from: 203, to: 218 };
    await settle();
    await answer(new Error('The disk is gone.'));
    expect(toasts.toasts).toMatchObject([{ kind: 'bad', message: 'The disk is gone.' }]);
    expect(detailed(thinned)).toBe(thinned);
  });
});
