/** A time as the reader's own clock and language show it; with its year where that is not `now`'s. */
export function formatTime(isoTime: string, now = new Date()): string {
  const time = new Date(isoTime);
  return (time.getFullYear() === now.getFullYear() ? timeFormat : timeFormatWithYear).format(time);
}

// Made once: `toLocaleString` would make one for every row of the table of runs.
const timeFormat = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const timeFormatWithYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** `maxEpochs` or `hidden_units` as `Max epochs`, `Hidden units`. */
export function labelOfName(name: string): string {
  if (name === 'blas') return 'BLAS';
  const words = name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('_', ' ')
    .trim();
  return words[0].toUpperCase() + words.slice(1);
}

/** The label of an option: `earlyStopping.patience` as `Patience`, `strategy.kind` as `Strategy`. */
export function labelOfOption(path: string): string {
  const names = path.split('.');
  const last = names[names.length - 1];
  return labelOfName(names.length > 1 && (last === 'kind' || last === 'enabled') ? names[names.length - 2] : last);
}

/** A part of an error's message: words, or lines of code that keep their columns. */
interface MessagePart {
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
