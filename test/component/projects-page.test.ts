import { describe, expect, it, vi } from 'vitest';
import type { ProjectCard } from '../../core/protocol/pages/project-views.ts';
import ProjectsPage from '../../src-renderer/views/projects/ProjectsPage.vue';
import { mountPage } from './mount-page.ts';

const wine: ProjectCard = {
  folder: '/projects/wine',
  name: 'Wine',
  description: 'Quality of red wine.',
  task: 'regression',
  isDescribed: true,
  isExample: false,
  isTrusted: true,
  warning: null,
  asks: [],
  error: null,
  isOpened: true,
  isGone: false,
  lastRun: {
    id: 'run-9',
    status: 'finished',
    notFinite: 'not finite: rank 1',
    best: { metric: 'val/ens_nll', value: 0.41012, epoch: 3 },
    startedAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:10:00.000Z',
  },
};
const lost: ProjectCard = { ...wine, folder: '/projects/lost', name: 'Lost', isGone: true };
const fresh: ProjectCard = { ...wine, folder: '/projects/new', name: 'Fresh', lastRun: null };

async function open(address = '/') {
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: () => 'blob:figure', revokeObjectURL: () => undefined }));
  const page = await mountPage(
    ProjectsPage,
    { address },
    {
      health: () => ({ devices: [], checks: [] }),
      projects: () => [wine, lost, fresh],
      forgetProject: () => undefined,
      projectPicture: (folder) =>
        folder === wine.folder
          ? { name: 'figure.svg', type: 'image/svg+xml', bytes: Uint8Array.of(1), run: 'wide' }
          : null,
    },
  );
  await expect.poll(() => page.wrapper.findAll('.project').length).toBeGreaterThan(0);
  return page;
}

describe('the page of projects', () => {
  it('shows the last result with a link, and the newest figure or a sketch', async () => {
    const { wrapper } = await open();
    const [first, second] = wrapper.findAll('.project');
    expect(first.get('.value').attributes('href')).toBe('/runs/run-9');
    expect(first.get('.value').text().replaceAll(/\s+/g, ' ')).toBe('Last run of Wine: ens NLL 0.4101');
    expect(first.get('.run-status').text()).toContain('not finite: rank 1');
    expect(first.find('.pill.doubtful').exists()).toBe(true);
    await expect.poll(() => first.find('img').exists()).toBe(true);
    expect(first.get('img').attributes()).toMatchObject({
      src: 'blob:figure',
      alt: 'Figure of the run wide: figure.svg',
    });
    expect(second.text()).toContain('Not trained yet.');
    expect(second.find('img').exists()).toBe(false);
    expect(second.find('svg.sketch').exists()).toBe(true);
  });

  it('says whose folder is gone, offers no training of it, and removes it', async () => {
    const { wrapper, calls } = await open();
    const gone = wrapper.get('details');
    expect(gone.get('summary').text()).toContain('1 project');
    expect(gone.find('[aria-label="Train Lost"]').exists()).toBe(false);
    await gone.get('[aria-label="Remove Lost from the list"]').trigger('click');
    await expect.poll(() => calls).toContainEqual(['forgetProject', '/projects/lost']);
    expect(calls).not.toContainEqual(['projectPicture', '/projects/lost']);
  });

  it('searches the cards, which the address keeps', async () => {
    const { wrapper, router } = await open();
    await wrapper.get('[type=search]').setValue('fresh');
    await expect.poll(() => wrapper.findAll('.project h3').map((title) => title.text())).toEqual(['Fresh']);
    expect(router.currentRoute.value.query).toEqual({ find: 'fresh' });
    await wrapper.get('[type=search]').setValue('absent');
    await expect
      .poll(() => wrapper.find('.notice h2').exists() && wrapper.get('.notice h2').text())
      .toBe('No matching projects');
  });
});
