import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReportData } from '../../../core/protocol/pages/run-data.ts';
import { decodeRpc } from '../../../core/protocol/pages/rpc.ts';
import { reportHtml } from '../../../src-main/report/write-report.ts';

const hostile = '</script><script>alert(1)</script><!-- \u202E"';
const series = [{ name: hostile, step: Int32Array.of(1, 2), value: Float64Array.of(Number.NaN, -Infinity) }];
const data = { writtenAt: '2026-11-22T00:00:00.000Z', version: hostile, series } as unknown as ReportData;

describe('the file of a report', () => {
  const page = { script: 'const a = "</script><!--";', style: 'a::after { content: "</style>" }' };
  const html = reportHtml(page, data);

  it('has two script elements, whatever the run says', () => {
    expect(html.match(/<script[ >]/g)).toEqual(['<script ', '<script>']);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
    expect(html.match(/<\/style>/g)).toHaveLength(1);
    expect(html).not.toContain('alert');
  });

  it('holds the data unchanged, with NaN and infinities', () => {
    const packed = /id="report-data">([^<]*)</.exec(html)?.[1] ?? '';
    expect(decodeRpc(gunzipSync(Buffer.from(packed, 'base64')))).toEqual(data);
  });

  it('allows its own script, and no connection', () => {
    const script = /<script>([^]*?)<\/script>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    expect(html).toContain(`default-src 'none'; script-src 'sha256-${hash}'`);
  });
});
