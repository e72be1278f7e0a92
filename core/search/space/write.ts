import type { Parameter, ParameterValue } from './parameter.ts';

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
