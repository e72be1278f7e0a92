import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { RunRecord } from '../../../core/protocol/run/record.ts';
import { typeOf } from '../../../src-main/rpc/projects/project-picture.ts';
import { createRunFolder } from '../../../src-main/store/runs/run-folder.ts';
import { trustFolder } from '../../../src-main/trust/project-trust.ts';
import { runRecord } from '../store/records.ts';
import { openService } from './page.ts';
import { writeTinyProject } from './tiny-project.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>';

/** The first bytes of a PNG of a size. */
function pngHeader(width: number, height: number): Uint8Array {
  const bytes = new Uint8Array(33);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, 13);
  bytes.set(new TextEncoder().encode('IHDR'), 12);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}

async function openTrained(folder?: string) {
  const opened = await openService();
  const project = folder ?? (await writeTinyProject(opened.home));
  const runFolder = (id: string) => join(opened.home, 'home', 'runs', id);
  const train = async (id: string, changes: Partial<RunRecord> = {}) => {
    const of = { name: 'Blobs', description: '', folder: project };
    await createRunFolder(runFolder(id), runRecord({ id, name: id, status: 'finished', project: of, ...changes }));
    await opened.page.hub.runs({});
  };
  const own = async () => (await opened.page.hub.projects()).filter(({ isExample }) => !isExample);
  return { ...opened, project, runFolder, train, own };
}

describe('the list of projects', () => {
  it('has those that were trained from a terminal, with their last run', async () => {
    const { project, train, own } = await openTrained();
    expect(await own()).toEqual([]);
    await train('early', { createdAt: '2026-01-01T00:00:00.000Z' });
    const summary: RunRecord['summary'] = {
      attempt: 1,
      epochs: 1,
      steps: 1,
      stopReason: 'completed',
      metrics: {},
      best: { metric: 'val/ens_nll', value: 0.5, epoch: 0, step: 1 },
      evaluatedSets: [],
    };
    await train('late', { createdAt: '2026-01-02T00:00:00.000Z', endedAt: '2026-01-02T01:00:00.000Z', summary });
    expect(await own()).toMatchObject([
      {
        folder: project,
        isOpened: false,
        isGone: false,
        lastRun: {
          id: 'late',
          status: 'finished',
          best: { metric: 'val/ens_nll', value: 0.5, epoch: 0 },
          startedAt: '2026-01-02T00:00:00.000Z',
          endedAt: '2026-01-02T01:00:00.000Z',
        },
      },
    ]);
  });

  it('says whose folder is gone, under the name that its runs have', async () => {
    const { train, own } = await openTrained('/nowhere/blobs');
    await train('run-1');
    expect(await own()).toMatchObject([{ folder: '/nowhere/blobs', name: 'Blobs', isGone: true, error: null }]);
  });

  it('loses one that the user removes, until a later run of it', async () => {
    const { project, train, own, page } = await openTrained();
    await train('run-1');
    await page.hub.forgetProject(project);
    expect(await own()).toEqual([]);
    await train('run-2', { createdAt: new Date(Date.now() + 60_000).toISOString() });
    expect(await own()).toMatchObject([{ folder: project, lastRun: { id: 'run-2' } }]);
  });
});

describe('the picture of a project', () => {
  async function openPictured() {
    const opened = await openTrained();
    await trustFolder(opened.project);
    await mkdir(join(opened.project, 'outputs'));
    const put = (name: string, content: string | Uint8Array) =>
      writeFile(join(opened.project, 'outputs', name), content);
    return { ...opened, put, picture: () => opened.page.hub.projectPicture(opened.project) };
  }

  it('is a file of its folder outputs; where a run drew figures, the newest of these', async () => {
    const { put, picture, train, runFolder } = await openPictured();
    expect(await picture()).toBeNull();
    await put('figure.png', pngHeader(10, 10));
    expect(await picture()).toMatchObject({ name: 'figure.png', type: 'image/png', run: null });
    await put('figure.svg', svg);
    expect(await picture()).toMatchObject({ name: 'figure.svg', type: 'image/svg+xml', run: null });
    await train('run-1');
    await mkdir(join(runFolder('run-1'), 'plots'));
    await writeFile(join(runFolder('run-1'), 'plots', 'drawn.svg'), svg);
    const drawn = await picture();
    expect(drawn).toMatchObject({ name: 'drawn.svg', run: 'run-1' });
    expect(new TextDecoder().decode(drawn?.bytes)).toBe(svg);
  });

  it('is no link to a file elsewhere, no other format and no large file', async () => {
    const { put, picture, home, project } = await openPictured();
    await writeFile(join(home, 'private.svg'), svg);
    await symlink(join(home, 'private.svg'), join(project, 'outputs', 'a.svg'));
    await put('b.svg', '<html><script>alert(1)</script></html>');
    await put('c.png', 'no image');
    await put('d.svg', svg + ' '.repeat(2 * 2 ** 20));
    expect(await picture()).toBeNull();
    await put('e.svg', svg);
    expect(await picture()).toMatchObject({ name: 'e.svg' });
  });

  it('is none if the whole folder is a link elsewhere', async () => {
    const { picture, home, project } = await openPictured();
    await rm(join(project, 'outputs'), { recursive: true });
    await mkdir(join(home, 'elsewhere'));
    await writeFile(join(home, 'elsewhere', 'a.svg'), svg);
    await symlink(join(home, 'elsewhere'), join(project, 'outputs'));
    expect(await picture()).toBeNull();
  });

  it('is none for a project that the user does not trust', async () => {
    const { page, project } = await openTrained();
    vi.stubEnv('TUTTI_TRUST', '');
    await mkdir(join(project, 'outputs'));
    await writeFile(join(project, 'outputs', 'a.svg'), svg);
    expect(await page.hub.projectPicture(project)).toBeNull();
  });

  it('is told by its bytes, and has a size that fits a page', () => {
    expect(typeOf(pngHeader(4000, 4000))).toBe('image/png');
    expect(typeOf(pngHeader(4001, 4000))).toBeNull();
    expect(typeOf(pngHeader(0, 10))).toBeNull();
    expect(typeOf(pngHeader(10, 10).subarray(0, 20))).toBeNull();
    expect(typeOf(new TextEncoder().encode('<?xml version="1.0"?>\n<svg width="1">'))).toBe('image/svg+xml');
    expect(typeOf(new TextEncoder().encode('<svgish>'))).toBeNull();
    expect(typeOf(new Uint8Array(0))).toBeNull();
  });
});
