/** A part of an error's message: words, or lines of code that keep their columns. */
export interface MessagePart {
  kind: 'words' | 'code';
  text: string;
}

/**
 * A line of an excerpt of code, as `workers/project/explain-error.ts` writes it: `> 31 | const x = 1;`, or the caret
 * below it.
 */
const codeLine = /^[> ] *\d* \|/;

/** Separates the excerpts of code in a message from its words. */
export function messageParts(message: string): MessagePart[] {
  const parts: MessagePart[] = [];
  for (const line of message.split('\n')) {
    const kind = codeLine.test(line) ? 'code' : 'words';
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += `\n${line}`;
    else parts.push({ kind, text: line });
  }
  return parts;
}
