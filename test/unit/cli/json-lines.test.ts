import { describe, expect, it } from 'vitest';
import {
  comparisonSchema,
  detachedLineSchema,
  devicesOutputSchema,
  doctorOutputSchema,
  runLineSchema,
  shownRunSchema,
} from '../../../core/protocol/pages/json-outputs.ts';
import type { RunUpdate } from '../../../core/protocol/pages/run-updates.ts';
import type { RunEvent } from '../../../core/protocol/run/record.ts';
import { toJson } from '../../../core/protocol/wire/numbers.ts';
import { compareRuns } from '../../../src-main/cli/commands/history/comparison.ts';
import type { ShownRun } from '../../../src-main/cli/commands/history/show.ts';
import { jsonLines } from '../../../src-main/cli/report.ts';
import type { Check } from '../../../src-main/health/backend-checks.ts';
import { facts, placementOf, pointsOf, recordOf } from './records.ts';

describe('jsonLines', () => {
  it('writes an object per point, with NaN and infinities as strings', () => {
    const batch = pointsOf([
      { name: 'train/loss', epoch: 0, step: 5, value: 0.25, timeMs: 1_000 },
      { name: 'val/ens_nll', epoch: 1, step: 10, value: Number.NaN, timeMs: 2_500 },
      { name: 'val/member_0_nll', epoch: 1, step: 10, value: -Infinity, timeMs: 2_500 },
    ]);
    expect(jsonLines({ type: 'points', rank: 0, batch })).toBe(
      '{"type":"point","rank":0,"name":"train/loss","epoch":0,"step":5,"value":0.25,"time":"1970-01-01T00:00:01.000Z"}\n' +
        '{"type":"point","rank":0,"name":"val/ens_nll","epoch":1,"step":10,"value":"NaN","time":"1970-01-01T00:00:02.500Z"}\n' +
        '{"type":"point","rank":0,"name":"val/member_0_nll","epoch":1,"step":10,"value":"-Infinity","time":"1970-01-01T00:00:02.500Z"}\n',
    );
  });

  it('writes any other update unchanged on one line', () => {
    const record = recordOf();
    const text = jsonLines({ type: 'ended', record });
    expect(text.indexOf('\n')).toBe(text.length - 1);
    expect(JSON.parse(text)).toEqual({ type: 'ended', record });
  });
});

describe('the schemas of docs/json.md', () => {
  const linesOf = (update: RunUpdate): unknown[] =>
    jsonLines(update)
      .trim()
      .split('\n')
      .map((line) => runLineSchema.parse(JSON.parse(line)));

  it('fit the lines of a run', () => {
    const record = recordOf();
    const event: RunEvent = {
      time: '2026-11-21T08:15:03.000Z',
      attempt: 1,
      rank: 0,
      kind: 'print',
      epoch: 0,
      step: 3,
      message: 'Hello',
      data: {},
    };
    const position = { rank: 0, epoch: 0, step: 3 };
    const updates: RunUpdate[] = [
      { type: 'record', record, folder: '/runs/a' },
      { type: 'described', about: facts },
      { type: 'worker', ...position, state: 'exited', pid: null },
      { type: 'progress', ...position, totalSteps: 9, samplesPerSecond: 12.5, memoryBytes: 1 },
      {
        type: 'points',
        rank: 0,
        batch: pointsOf([{ name: 'val/ens_nll', epoch: 0, step: 3, value: NaN, timeMs: NaN }]),
      },
      { type: 'device-loads', time: event.time, loads: [{ device: 'cpu:0', load: null, memoryUsedBytes: null }] },
      { type: 'event', event },
      { type: 'warning', message: 'A line was skipped.' },
      { type: 'ended', record },
    ];
    expect(updates.flatMap(linesOf)).toHaveLength(updates.length);
  });

  it('fit comparisons, devices and checks', () => {
    const comparison = compareRuns([recordOf(), recordOf({ seed: 1 })]);
    expect(comparisonSchema.parse(JSON.parse(toJson(comparison)))).toEqual(comparison);
    const { device } = placementOf(0);
    devicesOutputSchema.parse({ devices: [{ ...device, usable: true }], notes: [] });
    doctorOutputSchema.parse({ ok: true, checks: [{ name: 'node', status: 'ok', detail: 'v24' } satisfies Check] });
    const shown: ShownRun = { folder: '/a', name: 'a', record: recordOf(), history: [], forks: [], forkPoints: [] };
    expect(shownRunSchema.parse(JSON.parse(toJson(shown)))).toMatchObject({ name: 'a' });
    detachedLineSchema.parse({ type: 'ready', pid: 3, id: 'a', folder: '/a' });
  });
});
