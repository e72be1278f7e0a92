import {
  type AttributeProto,
  attributeType,
  type DataType,
  dataType,
  type GraphProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from './messages.ts';

/** An attribute of a node: whole numbers as they are, others as `{ float }` or `{ floats }`. */
type Attribute =
  | number
  | readonly number[]
  | string
  | readonly string[]
  | { float: number }
  | { floats: readonly number[] }
  | { graph: GraphProto };
export type Attributes = Readonly<Record<string, Attribute>>;

/** The domain of operators for raw data, such as words. */
export const mlDomain = 'ai.onnx.ml';

/** A size of an axis: a number, or a name for a size that is free. */
type Size = number | string;

const text = new TextEncoder();

/** Collects the nodes and constants of a graph. Values are named after the scope in which they are made. */
export class GraphBuilder {
  readonly nodes: NodeProto[] = [];
  readonly initializers: TensorProto[];
  readonly #known: Map<string, string>;
  readonly #counts: Map<string, number>;
  #scope = '';

  /** @param outer the graph that this one is a part of, whose constants it uses */
  constructor(outer?: GraphBuilder) {
    this.initializers = outer?.initializers ?? [];
    this.#known = outer === undefined ? new Map() : outer.#known;
    this.#counts = outer === undefined ? new Map() : outer.#counts;
    this.#scope = outer === undefined ? '' : outer.#scope;
  }

  /** Calls `build`, whose names begin with `name`. */
  within<T>(name: string, build: () => T): T {
    const before = this.#scope;
    this.#scope = `${before}${name}/`;
    try {
      return build();
    } finally {
      this.#scope = before;
    }
  }

  /** A node with one output. An input '' is left out. @returns the name of its output */
  op(type: string, inputs: readonly string[], attributes: Attributes = {}): string {
    return this.node(type, inputs, attributes, 1)[0];
  }

  /** @returns the names of the outputs */
  node(type: string, inputs: readonly string[], attributes: Attributes, outputs: number, domain = ''): string[] {
    const name = this.unique(type);
    const output = outputs === 1 ? [name] : Array.from({ length: outputs }, (_, i) => `${name}:${i}`);
    const attribute = Object.entries(attributes).map(([key, value]) => attributeOf(key, value));
    this.nodes.push({ input: [...inputs], output, name, opType: type, domain, attribute });
    return output;
  }

  /** Gives a value another name, such as that of an output. */
  rename(value: string, name: string): void {
    this.nodes.push({ input: [value], output: [name], name: `${name}:name`, opType: 'Identity' });
  }

  /** A weight, float32. */
  weight(name: string, shape: readonly number[], values: Float32Array): string {
    return this.#initializer(this.unique(name), 'float', shape, values);
  }

  /** A constant, float32. */
  floats(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.#constant('float', shape, Float32Array.from(values));
  }

  /** A constant, float64. */
  doubles(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.#constant('double', shape, Float64Array.from(values));
  }

  scalar(value: number): string {
    return this.floats([value], []);
  }

  /** A constant, int64. */
  integers(values: readonly number[], shape: readonly number[] = [values.length]): string {
    return this.#constant('int64', shape, BigInt64Array.from(values, BigInt));
  }

  unique(name: string): string {
    const full = this.#scope + name;
    const count = this.#counts.get(full) ?? 0;
    this.#counts.set(full, count + 1);
    return count === 0 ? full : `${full}_${count}`;
  }

  finish(name: string, input: ValueInfoProto[], output: ValueInfoProto[], docString = ''): GraphProto {
    return { name, node: this.nodes, initializer: this.initializers, input, output, docString };
  }

  /** A part of another graph, such as the body of a loop, whose constants are those of the other. */
  finishPart(name: string, input: ValueInfoProto[], output: ValueInfoProto[]): GraphProto {
    return { name, node: this.nodes, input, output };
  }

  /** Equal constants are stored once. */
  #constant(type: DataType, shape: readonly number[], values: Float32Array | Float64Array | BigInt64Array): string {
    const key = `${type} [${shape.join()}] ${values.join()}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `constant_${this.#known.size}`;
    this.#known.set(key, name);
    return this.#initializer(name, type, shape, values);
  }

  #initializer(
    name: string,
    type: DataType,
    shape: readonly number[],
    values: Float32Array | Float64Array | BigInt64Array,
  ): string {
    const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength) as Uint8Array<ArrayBuffer>;
    this.initializers.push({ name, dataType: dataType[type], dims: shape.map(BigInt), rawData });
    return name;
  }
}

/** Describes an input or output. */
export function valueInfo(name: string, type: DataType, shape: readonly Size[], docString = ''): ValueInfoProto {
  const dim = shape.map((size) =>
    typeof size === 'number'
      ? { value: { case: 'dimValue' as const, value: BigInt(size) } }
      : { value: { case: 'dimParam' as const, value: size } },
  );
  const tensorType = { elemType: dataType[type], shape: { dim } };
  return { name, docString, type: { value: { case: 'tensorType', value: tensorType } } };
}

function attributeOf(name: string, value: Attribute): AttributeProto {
  return { name, ...valueOf(value) };
}

function valueOf(value: Attribute): Omit<AttributeProto, 'name'> {
  if (typeof value === 'number') return { type: attributeType.int, i: BigInt(value) };
  if (typeof value === 'string') return { type: attributeType.string, s: text.encode(value) };
  if (Array.isArray(value)) return listOf(value);
  if ('float' in value) return { type: attributeType.float, f: value.float };
  if ('floats' in value) return { type: attributeType.floats, floats: [...value.floats] };
  if ('graph' in value) return { type: attributeType.graph, g: value.graph };
  throw new Error(`${JSON.stringify(value)} cannot be an attribute of a node.`);
}

function listOf(value: readonly (number | string)[]): Omit<AttributeProto, 'name'> {
  const strings = value.filter((entry) => typeof entry === 'string');
  if (strings.length > 0) return { type: attributeType.strings, strings: strings.map((entry) => text.encode(entry)) };
  return { type: attributeType.ints, ints: value.map((entry) => BigInt(entry)) };
}
