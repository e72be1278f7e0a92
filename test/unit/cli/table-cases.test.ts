import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planData } from '../../../core/preprocessing/plans/image-plan.ts';
import { plannedSource } from '../../../core/preprocessing/plans/project-source.ts';
import { answered, type ReadingOptions } from '../../../core/protocol/run/inspect-task.ts';
import { tableCases } from '../../cases/tables.ts';
import { runCommand } from '../../integration/damages/run-command.ts';
import { openService } from '../rpc/page.ts';

it.each(Object.keys(tableCases))(
  '%s: the terminal and the page find, ask and write the same',
  { timeout: 60_000 },
  async (name) => {
    const { content, ending = 'csv', asks = [], flags = [], says = [], writes, lacks } = tableCases[name];
    const { home, page } = await openService();
    const path = join(home, `d.${ending}`);
    await writeFile(path, content);
    const project = join(home, 'own-project');
    const unanswered = asks.length > 0 ? await runCommand(['create', project, '--from', path]) : null;
    expect(unanswered?.output ?? '').toContain(asks.length > 0 ? `Say so with ${flags[0]}` : '');
    expect(unanswered?.code ?? 2).toBe(2);
    const made = await runCommand(['create', project, '--from', path, ...flags]);
    expect([made.code, made.output]).toEqual([0, expect.stringContaining('which is trusted')]);
    const source = await readFile(join(project, 'project.ts'), 'utf8');
    for (const option of writes) expect(source).toContain(option);
    expect(source).not.toMatch(lacks ?? /^$/);

    let reading: ReadingOptions = {};
    const inspect = async () => (await page.hub.inspectData({ file: { path }, reading })).profile;
    const spelt = ({ kind, column }: { kind: string; column: string | null }): string => `${kind} ${column}`;
    let profile = await inspect();
    const questions = profile.findings.filter(({ level }) => level === 'question');
    expect(questions.map(spelt)).toEqual(asks.map(([question]) => question));
    for (const [i, finding] of questions.entries()) reading = answered(reading, { finding, profile }, asks[i][1]);
    if (questions.length > 0) profile = await inspect();
    const found = profile.findings.map((finding) => `${finding.level} ${spelt(finding)}`);
    expect(found).toEqual(expect.arrayContaining(says));
    expect(found.filter((own) => own.startsWith('question'))).toEqual([]);
    expect(plannedSource(planData(profile, {}), `d.${ending}`, 'Own project')).toBe(source);
  },
);
