import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskKind } from '../../../core/metrics/registry/metric.ts';
import type { RunConfigInput } from '../../../core/protocol/run/config.ts';
import type { ProjectDescription } from '../../../core/protocol/run/project-description.ts';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import type { Hub } from '../../../src-main/hub/hub.ts';
import { startRun } from '../../../src-main/hub/start-run.ts';
import { WorkerHost } from '../../../src-main/runs/workers/worker-host.ts';
import { projectFolder } from '../harness.ts';
import { type DrawnData, drawnProject } from '../projects/drawn/drawn-project.ts';

/** The project's own code, as far as it decides what a run may do. */
export interface DrawnCode {
  task: TaskKind;
  /** Whether the model has two further outputs. */
  hasOutputs: boolean;
}

export interface DrawnRun extends DrawnCode {
  data: Partial<DrawnData>;
  config: RunConfigInput;
}

/** A run that has ended. */
export interface TrainedRun {
  folder: string;
  record: RunRecord;
}

interface Place {
  folder: string;
  project: ReturnType<typeof drawnProject>;
  description: ProjectDescription;
  host: WorkerHost;
}

/**
 * Trains runs whose code, data and configuration tests draw. Their worker processes stay, so that a run takes a tenth
 * of a second.
 */
export class DrawnRuns {
  readonly #hub: Hub;
  readonly #root: string;
  readonly #places = new Map<string, Promise<Place>>();
  #runs = 0;

  constructor(hub: Hub, root: string) {
    this.#hub = hub;
    this.#root = root;
  }

  /** The project of that code, whose folder takes a run's files. */
  place(code: DrawnCode): Promise<Place> {
    const name = `${code.task}${code.hasOutputs ? '-outputs' : ''}`;
    const known = this.#places.get(name) ?? this.#open(name, code);
    this.#places.set(name, known);
    return known;
  }

  async #open(name: string, { task, hasOutputs }: DrawnCode): Promise<Place> {
    const folder = join(this.#root, name);
    await mkdir(folder, { recursive: true });
    await cp(join(projectFolder('drawn'), 'drawn-project.ts'), join(folder, 'drawn-project.ts'));
    const code = `import { drawnProject } from './drawn-project.ts';
export default drawnProject('${task}', ${hasOutputs}, import.meta.dirname);
`;
    await writeFile(join(folder, 'project.ts'), code);
    const description = await this.#hub.describe(folder);
    const host = await WorkerHost.open(join(this.#root, `${name}-runs`));
    return { folder, project: drawnProject(task, hasOutputs, folder), description, host };
  }

  /** Trains a run to its end. @throws Error for a refused configuration */
  async train({ data, config, ...code }: DrawnRun): Promise<TrainedRun> {
    const { folder: projectFolder, description, host } = await this.place(code);
    const hyperparameters = { ...config.hyperparameters, drawn: JSON.stringify(data) };
    const overrides = [{ ...config, hyperparameters }];
    const folder = join(host.runs, `${this.#runs++}`);
    const planned = await this.#hub.planRun({ projectFolder, overrides, folder }, description);
    const session = startRun(planned, this.#hub.index, () => undefined, { host });
    return { folder, record: await session.run() };
  }

  async close(): Promise<void> {
    for (const place of this.#places.values()) await (await place).host.close();
  }
}
