import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../../docs/references.md', import.meta.url);
const introduction = `# Independent references

This page compares what Tutti computes with other implementations. A script writes each section from its measurements; the last digits depend on
the processor.
`;

/** Replaces the section of docs/references.md with this heading (\`## ...\`), or appends it if it does not exist. */
export function writeReferenceSection(heading: string, body: string): void {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : introduction;
  const sections = text.split(/^(?=## )/m);
  const section = `## ${heading}\n\n${body.trim()}\n`;
  const place = sections.findIndex((other) => other.startsWith(`## ${heading}\n`));
  if (place < 0) sections.push(section);
  else sections[place] = section;
  writeFileSync(file, sections.map((other) => other.trim()).join('\n\n') + '\n');
}
