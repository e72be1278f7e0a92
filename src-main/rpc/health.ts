import packageJson from '../../package.json' with { type: 'json' };
import type { Health } from '../../core/protocol/pages/rpc.ts';
import type { Check } from '../health/backend-checks.ts';
import { runChecks } from '../health/checks.ts';
import type { Hub } from '../hub/hub.ts';
import { readFreeBytes } from '../../core/node/disk-room.ts';
import { MadeOnce } from '../../core/text/made-once.ts';
import { tuttiHome } from '../store/home.ts';
import { findOpener, listFolders } from './projects/folders.ts';

/** How long checks are reused: they measure backends, which takes seconds, and their results rarely change. */
const keptMs = 60_000;

/** Reports whether this machine has what Tutti needs. */
export class HealthReport {
  readonly #hub: Hub;
  readonly #frontEnd: Health['frontEnd'];
  #checks = new MadeOnce<Check[]>();
  #checkedAtMs = 0;

  constructor(hub: Hub, frontEnd: Health['frontEnd']) {
    this.#hub = hub;
    this.#frontEnd = frontEnd;
  }

  async read(): Promise<Health> {
    const home = tuttiHome();
    const checks = await this.#readChecks();
    const { devices } = await this.#hub.devices();
    return {
      versions: { tutti: packageJson.version, ...runtimeVersions() },
      folders: listFolders(),
      canOpenFolders: this.#frontEnd === 'desktop' || findOpener() !== null,
      freeBytes: await readFreeBytes(home),
      devices,
      checks: checks.map(({ name, status, detail, remedy }) => ({
        name,
        verdict: status,
        detail,
        remedy: remedy ?? null,
      })),
      frontEnd: this.#frontEnd,
    };
  }

  #readChecks(): Promise<Check[]> {
    const nowMs = performance.now();
    if (nowMs - this.#checkedAtMs > keptMs) this.#checks = new MadeOnce();
    return this.#checks.get(() => {
      this.#checkedAtMs = nowMs;
      return runChecks();
    });
  }
}

function runtimeVersions(): Record<string, string> {
  const { node, electron, v8 } = process.versions;
  return { node, v8, ...(electron === undefined ? {} : { electron }) };
}
