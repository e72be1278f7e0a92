/** Something the command palette finds. */
export interface Command {
  id: string;
  group: 'Pages' | 'Projects' | 'Runs' | 'Theme';
  label: string;
  detail: string;
  run(): void;
}

/** Commands that contain every word of the query, the earliest match first; at most `limit`. */
export function findCommands(commands: readonly Command[], query: string, limit: number): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return commands
    .map((command) => ({ command, text: `${command.label} ${command.detail} ${command.group}`.toLowerCase() }))
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .sort((a, b) => a.text.indexOf(words[0] ?? '') - b.text.indexOf(words[0] ?? ''))
    .slice(0, limit)
    .map(({ command }) => command);
}
