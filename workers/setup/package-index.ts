import { fetchFile } from '../data/sources/download.ts';
import type { Wheel } from './wheels.ts';

/** The index's address. As with pip, PIP_INDEX_URL names another index. */
const indexUrl = process.env.PIP_INDEX_URL ?? 'https://pypi.org/simple';

const silenceMs = 15_000;

/**
 * Downloads a wheel into `folder` and returns its path. Resumes an earlier attempt.
 * @throws Error if the index does not answer or does not list the file, or the SHA-256 does not match
 */
export async function downloadWheel(wheel: Wheel, folder: string, note: (text: string) => void): Promise<string> {
  const url = await findAddress(wheel);
  let told = -1;
  return await fetchFile(
    { name: wheel.name, urls: [url], sha256: wheel.sha256, bytes: wheel.bytes, folder },
    {
      silenceMs,
      onProgress({ receivedBytes, totalBytes }) {
        const tenths = Math.floor((10 * receivedBytes) / totalBytes);
        if (tenths === told) return;
        told = tenths;
        note(`${wheel.name}: ${tenths * 10} % of ${Math.round(totalBytes / 1e6)} MB`);
      },
    },
  );
}

/** The file's address on its project's page (PEP 503). */
async function findAddress({ project, name }: Wheel): Promise<string> {
  const page = `${indexUrl.replace(/\/$/, '')}/${project}/`;
  const response = await fetch(page, { signal: AbortSignal.timeout(silenceMs) }).catch((cause: unknown) => {
    throw new Error(`${page} does not answer. Is this machine offline? PIP_INDEX_URL names another index.`, { cause });
  });
  if (!response.ok) throw new Error(`${page} answers with HTTP ${response.status}. PIP_INDEX_URL names another index.`);
  const addresses = [...(await response.text()).matchAll(/href="([^"]+)"/g)].map(
    ([, href]) => new URL(href, response.url || page),
  );
  const address = addresses.find(({ pathname }) => pathname.endsWith(`/${name}`));
  if (address === undefined) throw new Error(`${page} does not list ${name}. PIP_INDEX_URL names another index.`);
  address.hash = '';
  return address.href;
}
