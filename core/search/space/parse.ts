import { parameterSchema, type Condition, type Parameter, type ParameterValue } from './parameter.ts';

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
 * `momentum=float(0,0.99) when optimizer.kind=sgd,rmsprop`. Quotes keep a comma or a number as text: `choice("1,5","2")`.
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
