import { type ReportData, reportDataId } from '../../core/protocol/pages/run-data.ts';
import { decodeRpc } from '../../core/protocol/pages/rpc.ts';

/** The data in this page. @throws Error if there is none */
export async function readReportData(): Promise<ReportData> {
  const text = document.getElementById(reportDataId)?.textContent;
  if (text === undefined) throw new Error('This page holds no report: write it again with `tutti report`.');
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  // Written by Tutti together with this script.
  return decodeRpc(new Uint8Array(await new Response(plain).arrayBuffer())) as ReportData;
}
