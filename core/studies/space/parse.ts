import { type Condition, type Parameter, parameterSchema, type ParameterValue } from './domain.ts';
import type { Assignment } from './space.ts';

/** How each kind is written, for messages and help. */
const forms: Record<Parameter['kind'], string> = {
  float: 'float(0,0.5)',
  log: 'log(1e-5,30)',
  int: 'int(1,8) or int(16,256,16)',
  'log-int': 'log-int(16,1024)',
  step: 'step(0,0.5,0.1)',
  choice: 'choice(relu,tanh)',
};

const pattern = /^\s*([^\s=]+)\s*=\s*([a-z-]+)\s*\(([^]*)\)\s*(?:when\s+([^\s=]+)\s*=\s*([^]+?))?\s*$/;

/**
 * Reads a parameter from the command line: `weightDecay=log(1e-5,30)`, or with a condition
 * `momentum=float(0,0.99) when optimizer.kind=sgd,rmsprop`. Quotes keep a comma or a number as text:
 * `choice("1,5","2")`.
 * @throws Error with the text, the rule and the remedy
 */
export function parseParameter(text: string): { path: string; parameter: Parameter } {
  const [, path, kind, listed, parent, values] = pattern.exec(text) ?? [];
  if (path === undefined) {
    throw new Error(
      `"${text}" is no parameter: write the option, an equals sign and its values, such as weightDecay=log(1e-5,30).`,
    );
  }
  if (!isKind(kind)) {
    throw new Error(`"${text}": there is no kind ${kind}. Write one of ${Object.values(forms).join(', ')}.`);
  }
  const when: Condition | undefined =
    values === undefined ? undefined : { path: parent, equals: parseList(values, text) };
  const parsed = parameterSchema.safeParse({ ...fieldsOf(kind, parseList(listed, text), text), ...(when && { when }) });
  if (parsed.success) return { path, parameter: parsed.data };
  throw new Error(`"${text}": ${parsed.error.issues.map(({ message }) => message).join('; ')}. Write ${forms[kind]}.`);
}

function isKind(kind: string): kind is Parameter['kind'] {
  return Object.hasOwn(forms, kind);
}

function fieldsOf(kind: Parameter['kind'], values: readonly ParameterValue[], text: string): Record<string, unknown> {
  if (kind === 'choice') return { kind, choices: values };
  const [low, high, step] = values;
  const allowed = kind === 'step' ? [3] : kind === 'int' ? [2, 3] : [2];
  if (!allowed.includes(values.length)) {
    throw new Error(
      `"${text}": ${kind} takes ${allowed.join(' or ')} numbers, not ${values.length}. Write ${forms[kind]}.`,
    );
  }
  return { kind, low, high, ...(step !== undefined && { step }) };
}

/** A quoted text, or what stands between commas. */
const item = /\s*(?:"((?:[^"\\]|\\.)*)"|([^,"]*))\s*(,|$)/y;

function parseList(list: string, text: string): ParameterValue[] {
  const values: ParameterValue[] = [];
  item.lastIndex = 0;
  for (;;) {
    const [, quoted, bare, end] = item.exec(list) ?? [];
    if (end === undefined || (quoted === undefined && bare.trim() === '')) {
      throw new Error(`"${text}": write values with commas between them, and text that has commas in double quotes.`);
    }
    values.push(quoted === undefined ? parseValue(bare.trim()) : quoted.replace(/\\(.)/g, '$1'));
    if (end === '') return values;
  }
}

function parseValue(word: string): ParameterValue {
  if (word === 'true' || word === 'false') return word === 'true';
  const number = Number(word);
  return Number.isFinite(number) ? number : word;
}

/** A parameter in the form that `parseParameter` reads: `log(1e-5,30)`, `float(0,0.99) when optimizer.kind=sgd`. */
export function writeDomain(parameter: Parameter): string {
  const { kind, when } = parameter;
  const values = kind === 'choice' ? parameter.choices : boundsOf(parameter);
  const condition = when === undefined ? '' : ` when ${when.path}=${when.equals.map(writeValue).join(',')}`;
  return `${kind}(${values.map(writeValue).join(',')})${condition}`;
}

function boundsOf(parameter: Exclude<Parameter, { kind: 'choice' }>): number[] {
  const step = 'step' in parameter ? parameter.step : undefined;
  return [parameter.low, parameter.high, ...(step === undefined ? [] : [step])];
}

/** A text that would be read as something else is quoted. */
function writeValue(value: ParameterValue): string {
  if (typeof value !== 'string') return String(value);
  const isPlain =
    /^[^\s",()]+$/.test(value) && !Number.isFinite(Number(value)) && value !== 'true' && value !== 'false';
  return isPlain ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/**
 * The splits of the data on which each trial trains, as options by path: `5` are the folds of a cross-validation,
 * `split=0,1,2` the values of an option.
 * @throws Error with the remedy
 */
export function parseSplits(text: string): Assignment[] {
  if (/^[1-9]\d{0,3}$/.test(text)) {
    const folds = Number(text);
    return Array.from({ length: folds }, (_, fold) => ({ 'data.folds': folds, 'data.fold': fold }));
  }
  const [, path, list] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (path === undefined) {
    throw new Error(
      `"${text}" are no splits: give a number of folds, such as 5, or the values of an option, such as split=0,1,2.`,
    );
  }
  const { parameter } = parseParameter(`${path}=choice(${list})`);
  return parameter.kind === 'choice' ? parameter.choices.map((value) => ({ [path]: value })) : [];
}
