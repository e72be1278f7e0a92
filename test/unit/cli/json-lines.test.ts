import { describe, expect, it } from 'vitest';
import { jsonLines } from '../../../src-main/cli/report.ts';
import { pointsOf, recordOf } from './records.ts';

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
