import { describe, expect, it } from 'vitest';
import { candidatesFor, completionScripts } from '../../../src-main/cli/completion.ts';
import { createProgram } from '../../../src-main/cli/program/program.ts';

const runs = async () => [{ text: '20261121-blobs', help: 'Blobs, finished' }];

async function offered(...words: string[]): Promise<string[]> {
  return (await candidatesFor(createProgram({ openDashboard: async () => 0 }), words, runs)).map(({ text }) => text);
}

describe('the candidates for a word', () => {
  it('are the commands at first, but not the hidden one', async () => {
    const commands = await offered('');
    expect(commands).toEqual(
      expect.arrayContaining(['train', 'resume', 'compare', 'tag', 'archive', 'delete', 'completion']),
    );
    expect(commands).not.toContain('complete');
    expect(await offered()).toEqual(commands);
  });

  it('are runs where a command takes one, as often as it takes them', async () => {
    expect(await offered('resume', '')).toEqual(['20261121-blobs']);
    expect(await offered('resume', 'a', '')).toEqual([]);
    expect(await offered('compare', 'a', 'b', '2026')).toEqual(['20261121-blobs']);
    expect(await offered('tag', 'a', 'good', '')).toEqual([]);
  });

  it("are a command's options, and all options of a run for train", async () => {
    expect(await offered('stop', 'a', '--')).toEqual(['--at-epoch-end', '--rank', '--help']);
    expect(await offered('train', 'p', '--o')).toEqual(
      expect.arrayContaining(['--members', '--optimizer.learning-rate', '--detach']),
    );
    expect(await offered('resume', 'a', '-')).toContain('--max-epochs');
    expect(await offered('resume', 'a', '-')).not.toContain('--epochs');
  });

  it('are the values of an option', async () => {
    expect(await offered('train', 'p', '--optimizer', '')).toEqual(expect.arrayContaining(['sgd', 'adam']));
    expect(await offered('runs', '--status', '')).toContain('interrupted');
    expect(await offered('create', 'x', '--template', '')).toEqual(['blank', 'tabular', 'images', 'text']);
    expect(await offered('train', 'p', '--members', '')).toEqual([]);
    expect(await offered('export', 'a', '--to', '')).toEqual([':files']);
  });

  it('are files for a project, shells for completion, and nothing for an unknown command', async () => {
    expect(await offered('train', '')).toEqual([':files']);
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await offered('trian', '')).toEqual([]);
  });
});

it('scripts of all shells ask the same command', () => {
  for (const script of Object.values(completionScripts)) expect(script).toContain(' complete -- ');
});
