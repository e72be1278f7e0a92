import { usualMissingValues } from '../../core/preprocessing/reading.ts';

/** Values without order, the same ones each time. */
const mixed = (i: number): number => ((i * 7919) % 101) / 100;
const rows = (count: number, row: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => row(i)).join('\n');
const decimalComma = (value: number): string => value.toFixed(1).replace('.', ',');
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

/** A table, and what is found in it, asked about it and written of it. */
export interface TableCase {
  content: string | Buffer;
  /** Ending of the file; `csv` by default. */
  ending?: string;
  /** The questions, with what a person answers on the page: `kind column`, choice. */
  asks?: [question: string, choice: string][];
  /** The flags that answer in a terminal. */
  flags?: string[];
  /** Findings that are said, as `level kind column`. */
  says?: string[];
  writes: string[];
  lacks?: RegExp;
}

/** Tables as people have them. */
export const tableCases: Record<string, TableCase> = {
  'names that are numbers': {
    content: `0,1,2,y\n${rows(60, (i) => `${mixed(i)},${mixed(2 * i)},${mixed(3 * i + 1)},${'ab'[i % 2]}`)}`,
    writes: ['header: true', "'0': 'number'", "'2': 'number'", "target: 'y'", "targetKind: 'classes'"],
  },
  'a nameless column that counts rows sorted by class': {
    content: `,x,y\n${rows(100, (i) => `${i},${mixed(i)},${i < 50 ? 'a' : 'b'}`)}`,
    says: ['note sorted y'],
    writes: ["x: 'number'"],
    lacks: /column 1/,
  },
  'decimal commas': {
    content: `x;y\n${rows(80, (i) => `${decimalComma(20 + mixed(i))};${'ab'[i % 2]}`)}`,
    says: ['note number-format x'],
    writes: ["delimiter: ';'", "decimal: { x: ',' }", "x: 'number'"],
  },
  'decimal commas in the target, with points between thousands': {
    content: `x;y\n${rows(80, (i) => `${mixed(i)};${1 + (i % 9)}.${String((i * 37) % 1000).padStart(3, '0')},5`)}`,
    writes: ["decimal: { y: ',' }", "y: 'number'", "targetKind: 'values'"],
  },
  'what is a thousand or a decimal comma': {
    content: `x;y\n${rows(80, (i) => `${1 + (i % 9)},${String((i * 37) % 1000).padStart(3, '0')};${'ab'[i % 2]}`)}`,
    asks: [['number-format x', ',']],
    flags: ['--decimal', ','],
    writes: ["decimal: { x: ',' }"],
  },
  'empty columns and rows at the ends': {
    content: `CO;T;;\n${rows(45, (i) => `${decimalComma(1 + mixed(i))};${10 + mixed(i * i)};;`)}\n${rows(9, () => ';;;')}`,
    says: ['note left-out null'],
    writes: ["CO: 'number'", "T: 'number'"],
    lacks: /column 3/,
  },
  'the line of Excel that names the delimiter': {
    content: `sep=;\na;b;y\n${rows(40, (i) => `${mixed(i)};${mixed(i + 7)};${'pq'[i % 2]}`)}`,
    writes: ["delimiter: ';'", 'header: true', "b: 'number'"],
  },
  'a country NA': {
    content: `country,x,y\n${rows(60, (i) => `${['NA', 'DE', 'FR'][i % 3]},${mixed(i)},${'ab'[i % 2]}`)}`,
    says: ['warning missing-texts country', 'note missing-values null'],
    writes: ["country: 'category'", "missing: 'impute'"],
  },
  'a class None': {
    content: `x,y\n${rows(60, (i) => `${mixed(i)},${['None', 'Mild', 'Severe'][i % 3]}`)}`,
    says: ['warning missing-texts y'],
    writes: ["missing: { y: 'drop' }"],
  },
  'bytes of Windows-1252': {
    content: Buffer.from(
      `city,x,y\n${rows(60, (i) => `${['Zürich', 'Bern'][i % 2]},${mixed(i)},${'ab'[(i * i) % 2]}`)}`,
      'latin1',
    ),
    asks: [['encoding null', 'windows-1252']],
    flags: ['--encoding', 'windows-1252'],
    writes: ["encoding: 'windows-1252'", "city: 'category'"],
  },
  'UTF-16 with a mark': {
    content: utf16(`city\tx\ty\n${rows(60, (i) => `${['Zürich', 'Bern'][i % 2]}\t${mixed(i)}\t${'ab'[(i * i) % 2]}`)}`),
    writes: [String.raw`delimiter: '\t'`, "city: 'category'"],
    lacks: /encoding/,
  },
  'days first, which a 31 tells': {
    content: `date,x,y\n${rows(60, (i) => `${String((i % 31) + 1).padStart(2, '0')}/01/2011,${mixed(i)},${'ab'[i % 2]}`)}`,
    says: ['note date-format date'],
    writes: ["dateFormat: { date: 'DD/MM/YYYY' }", "date: 'date'"],
  },
  'days or months first': {
    content: `date,x,y\n${rows(60, (i) => `0${(i % 9) + 1}/0${((i * 5) % 9) + 1}/2011,${mixed(i)},${'ab'[i % 2]}`)}`,
    asks: [['date-format date', 'MM/DD/YYYY']],
    flags: ['--date-format', 'MM/DD/YYYY'],
    writes: ["dateFormat: { date: 'MM/DD/YYYY' }"],
  },
  'codes that look like numbers': {
    content: `zip,flag,x,y\n${rows(90, (i) => `0${(i % 3) + 1}000,${i % 2 ? 'True' : 'False'},${mixed(i)},${'abc'[i % 3]}`)}`,
    says: ['warning codes zip'],
    writes: ["flag: 'boolean'"],
  },
  'signs as classes': {
    content: `x,y\n${rows(80, (i) => `${mixed(i)},${mixed(3 * i) > 0.5 ? '+' : '-'}`)}`,
    writes: ["y: 'category'", "targetKind: 'classes'"],
  },
  'a number for a missing value': {
    content: `a,b,y\n${rows(150, (i) => `${i % 10 ? mixed(i) * 5 : -999},${mixed(i * i)},${'pq'[i % 2]}`)}`,
    says: ['warning sentinel a'],
    writes: ["a: 'number'"],
  },
  'a series with the newest row first': {
    content: `date,v\n${rows(120, (i) => `${new Date(Date.UTC(2024, 0, 120 - i)).toISOString().slice(0, 10)},${mixed(i)}`)}`,
    says: ['warning time-order date', 'note time date'],
    writes: ["seriesOf(table, ['v'], { time: 'date' })", 'windowSplits('],
  },
  'money, units, ids and free text': {
    content:
      'PassengerId,Survived,Fare,Weight,Booked,Ticket\n' +
      rows(
        120,
        (i) => `${i + 1},${i % 2},"$1,0${10 + (i % 80)}.50",${50 + (i % 40)} kg,1/${(i % 28) + 1}/1912,T ${i * 17}`,
      ),
    says: [
      'warning row-counter PassengerId',
      'note number-format Fare',
      'note number-format Weight',
      'note date-format Booked',
    ],
    writes: [
      "PassengerId: 'ignore'",
      "Fare: 'number'",
      "Weight: 'number'",
      "Ticket: 'ignore'",
      "dateFormat: { Booked: 'MM/DD/YYYY' }",
    ],
  },
  'a column that names the splits, and rows that two of them have': {
    content: `id,x,y,Partition\n${rows(90, (i) => `${i},${mixed(i < 60 ? i : i - 60)},${mixed((i < 60 ? i : i - 60) * 3) > 0.5 ? 'a' : 'b'},${['Training', 'Holdout'][Number(i >= 60)]}`)}`,
    says: ['note splits Partition', 'warning shared-rows Partition'],
    writes: ["split: 'Partition'", "Partition: 'category'", "target: 'y'", 'validation: 0.2'],
    lacks: /test: 0|fold/,
  },
  'measurements of air: decimal commas, -200, a time in two columns, empty columns and rows': {
    content: `Date;Time;CO(GT);T;;\n${rows(240, (i) => {
      const co = i % 11 ? decimalComma(1 + 3 * mixed(i)) : '-200';
      return `${10 + Math.floor(i / 24)}/03/2004;${String(i % 24).padStart(2, '0')}.00.00;${co};${decimalComma(10 + mixed(i))};;`;
    })}\n${rows(114, () => ';;;;;')}`,
    says: ['warning sentinel CO(GT)', 'warning clock Time', 'note left-out null', 'note date-format Date'],
    writes: ["decimal: { 'CO(GT)': ',', T: ',' }", "dateFormat: { Date: 'DD/MM/YYYY' }"],
  },
  'a census: no names, a comment line, question marks, blanks, classes that end in a full stop': {
    content: `|1x3 Cross validator\n${rows(120, (i) => `${20 + (i % 50)}, ${['Private', '?', 'State-gov'][i % 3]}, ${(i * 977) % 9000}, ${i % 5 ? '<=50K' : '>50K'}.`)}`,
    ending: 'test',
    says: ['note comments null', 'note missing-values null'],
    writes: ['header: false', 'commentLines: 1', "'column 2': 'category'", "target: 'column 4'"],
  },
  'approvals of credit: no names, question marks, classes + and -': {
    content: rows(
      120,
      (i) =>
        `${i % 7 ? 'ab'[i % 2] : '?'},${(20 + 30 * mixed(i)).toFixed(2)},${'ugt'[i % 3]},${i % 12},${mixed(3 * i) > 0.5 ? '+' : '-'}`,
    ),
    ending: 'data',
    writes: ['header: false', "'column 1': 'category'", "'column 2': 'number'", "target: 'column 5'"],
  },
  'assays of molecules, of which each has some': {
    content: `smiles,NR-AR,NR-ER\n${rows(150, (i) => `${'C'.repeat(1 + (i % 9))}(=O)N${'C'.repeat(Math.floor(i / 9))},${i % 3 ? i % 2 : ''},${i % 4 ? Math.floor(i / 2) % 2 : ''}`)}`,
    says: ['warning identifier smiles'],
    writes: ["smiles: 'ignore'", "missing: { 'NR-AR': 'impute', 'NR-ER': 'drop' }"],
  },
  'houses from Excel: NA for none, doubled quotes, Windows-1252, #N/A': {
    content: Buffer.from(
      `Id,Alley,Größe,Name,Price\r\n${rows(100, (i) => `${i + 1},${['NA', 'Grvl', 'Pave'][i % 3]},${50 + ((i * 7) % 90)},"the ""${'abc'[i % 3]}"" house, ${i}",${i % 20 ? 100_000 + ((i * 977) % 50_000) : '#N/A'}`).replaceAll('\n', '\r\n')}`,
      'latin1',
    ),
    asks: [
      ['encoding null', 'windows-1252'],
      ['misfits Price', 'missing'],
    ],
    flags: ['--encoding', 'windows-1252', ...[...usualMissingValues, '#N/A'].flatMap((text) => ['--missing', text])],
    says: ['warning missing-texts Alley', 'warning row-counter Id'],
    writes: [
      "encoding: 'windows-1252'",
      "'#N/A'",
      "'Größe': 'number'",
      "Id: 'ignore'",
      "missing: { Alley: 'impute', Price: 'drop' }",
    ],
  },
};
