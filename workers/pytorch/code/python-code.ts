import type { Weight } from '../../exchange/model-calls.ts';

/**
 * Names that attributes of a module cannot have: its own methods and properties (`dir(torch.nn.Module())` of torch
 * 2.15), and Python's keywords.
 */
const reserved: ReadonlySet<string> = new Set(
  (
    'T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches ' +
    'eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict ' +
    'modules mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook ' +
    'register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook ' +
    'register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook ' +
    'register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_ ' +
    'set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu zero_grad False ' +
    'None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Collects the code and the weights of a model's module. */
export class PythonCode {
  /** Lines of `__init__`. */
  readonly modules: string[] = [];
  /** Lines of `forward`. */
  readonly lines: string[] = [];
  /** Weights in PyTorch's layout, by their names in the module's `state_dict`. */
  readonly weights = new Map<string, Weight>();
  /** Names of the functions and classes of the library that the code uses. */
  readonly used: Set<string>;
  readonly #names = new Map<object, string>();
  readonly #taken = new Set<string>();
  #values = 0;

  constructor(used: Set<string>) {
    this.used = used;
  }

  /** The attribute of a layer in the module, the same at each of its calls. */
  attribute(layer: object, name: string): string {
    const known = this.#names.get(layer);
    if (known !== undefined) return known;
    const plain = pythonName(name);
    const base = reserved.has(plain) ? `${plain}_` : plain;
    let unique = base;
    for (let i = 1; this.#taken.has(unique); i += 1) unique = `${base}_${i}`;
    this.#taken.add(unique);
    this.#names.set(layer, unique);
    return unique;
  }

  /** Adds a submodule with its weights, unless an earlier call of the layer did. */
  module(attribute: string, constructor: string, weights: Readonly<Record<string, Weight>>): void {
    const line = `self.${attribute} = ${constructor}`;
    if (this.modules.includes(line)) return;
    this.modules.push(line);
    for (const [name, weight] of Object.entries(weights)) this.weights.set(`${attribute}.${name}`, weight);
  }

  /** Adds a weight of the module itself. */
  parameter(attribute: string, weight: Weight): string {
    const line = `self.${attribute} = nn.Parameter(torch.empty(${tuple(weight.shape)}))`;
    if (!this.modules.includes(line)) this.modules.push(line);
    this.weights.set(attribute, weight);
    return `self.${attribute}`;
  }

  /** Adds values of the module itself that are not trained. */
  buffer(attribute: string, weight: Weight): string {
    const line = `self.register_buffer("${attribute}", torch.empty(${tuple(weight.shape)}))`;
    if (!this.modules.includes(line)) this.modules.push(line);
    this.weights.set(attribute, weight);
    return `self.${attribute}`;
  }

  /** A variable with the value of an expression. */
  value(expression: string): string {
    this.#values += 1;
    const name = `x${this.#values}`;
    this.lines.push(`${name} = ${expression}`);
    return name;
  }

  /** Names a function or class of the library, so that the file defines it. */
  library(name: string): string {
    this.used.add(name);
    return name;
  }
}

/** A tuple or number of Python: `(3, 3)`, `(3,)`. */
export function tuple(values: readonly number[]): string {
  return values.length === 1 ? `(${values[0]},)` : `(${values.join(', ')})`;
}

function pythonName(name: string): string {
  const plain = name.replaceAll(/\W/g, '_');
  return /^[a-z]/i.test(plain) ? plain : `layer_${plain}`;
}
