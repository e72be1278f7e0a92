import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the guide says of a project: `yes`, or `refused: ` with a part of the message. */
export type GuideRow = Record<'predict' | 'browser' | 'onnx' | 'pytorch' | 'serve', string>;

/** The table of docs/guides/predict.md with a line for each trial project, by the project's name. */
export function guideTable(): Map<string, GuideRow> {
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/guides/predict.md'), 'utf8');
  const rows = guide.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const head = rows.findIndex(([, first]) => first === 'trial project');
  if (head < 0) throw new Error('docs/guides/predict.md has no table of trial projects.');
  const body = rows.slice(head + 2);
  const end = body.findIndex((cells) => cells.length < 3);
  return new Map(
    body.slice(0, end).map(([, name, , refused]) => {
      const reasons = new Map(refused.split('; ').map((one) => one.split(': ') as [string, string]));
      const of = (way: string): string => (reasons.has(way) ? `refused: ${reasons.get(way)}` : 'yes');
      const [predict, serve] = [of('`tutti predict`'), of('`tutti serve`')];
      return [
        name.replaceAll('`', ''),
        { predict, browser: of('browser'), onnx: of('ONNX'), pytorch: of('PyTorch'), serve },
      ];
    }),
  );
}
