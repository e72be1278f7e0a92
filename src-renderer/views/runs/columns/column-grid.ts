import { type Column, leastWidth } from './columns.ts';

/** How much a column without a chosen width may shrink where the window is narrow. */
const shrinking = 0.87;
const checkWidth = 36;
const menuWidth = 40;
const leastName = 148;
const usualName = 260;

/** The widths of the table's columns for CSS: those that the user chose are fixed, the others share what is left. */
export function columnGrid(
  columns: readonly Column[],
  isFixed: (key: string) => boolean,
): { template: string; leastWidth: number } {
  const own = columns.map(({ key, width }) => {
    const least = isFixed(key) ? width : Math.max(leastWidth, Math.round(shrinking * width));
    return { least, text: isFixed(key) ? `${width}px` : `minmax(${least}px, ${width}fr)` };
  });
  const texts = own.map(({ text }) => text).join(' ');
  return {
    template: `${checkWidth}px minmax(${leastName}px, ${usualName}fr) ${texts} ${menuWidth}px`.replace('  ', ' '),
    leastWidth: checkWidth + leastName + menuWidth + own.reduce((sum, { least }) => sum + least, 0),
  };
}
