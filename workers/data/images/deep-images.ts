import type { Metadata, Raw } from 'sharp';

/** What images of a reading have that their bytes do not show. */
export class ImageFindings {
  #files = 0;
  readonly #deep: string[] = [];
  readonly #paged: string[] = [];
  #largest = 0;
  #hasOnly16Bits = true;

  /** Whether an image has more than 8 bits a value. */
  get hasDeep(): boolean {
    return this.#deep.length > 0;
  }

  /** The largest value of the images of more than 8 bits; 0 without such an image. */
  get largest(): number {
    return this.#largest;
  }

  /** What becomes 255, where the images may be numbers of fewer bits in 16; null where that is no question. */
  get likelyMaximum(): number | null {
    if (!this.hasDeep || this.#largest > largestOf16Bits / 4) return null;
    return 2 ** Math.max(8, Math.ceil(Math.log2(this.#largest + 1))) - 1;
  }

  /** @param found with the depth as sharp names it: `uchar` has 8 bits */
  add(file: string, found: { depth: string; largest: number; pages: number }): void {
    this.#files++;
    if (found.depth !== 'uchar') {
      this.#deep.push(file);
      this.#hasOnly16Bits &&= found.depth === 'ushort';
    }
    if (found.pages > 1) this.#paged.push(`${file}: ${found.pages}`);
    this.#largest = Math.max(this.#largest, found.largest);
  }

  /**
   * @param maximum the value that becomes 255, if it was given
   * @returns a sentence for each finding
   */
  notes(maximum: number | undefined): string[] {
    const scale = maximum ?? largestOf16Bits;
    const deep =
      `Images of more than 8 bits a value: ${this.#deep.length} of ${this.#files} (${listed(this.#deep)}). ` +
      `${scale} becomes 255 (option maximum); the largest value that was found is ${this.#largest}.`;
    const paged =
      `Images of several pages, of which only the first is read: ${this.#paged.length} of ${this.#files} ` +
      `(${listed(this.#paged)}). Write the other pages to files of their own.`;
    return [...(this.#deep.length > 0 ? [deep] : []), ...(this.#paged.length > 0 ? [paged] : [])];
  }

  /** @throws Error for a maximum that has no effect on these images, or cannot be that of their values */
  requirePossible(name: string, maximum: number): void {
    const given = `maximum: ${maximum}`;
    if (!this.hasDeep) {
      throw new Error(`All images of ${name} have 8 bits a value, so ${given} has no effect. Leave it out.`);
    }
    if (this.#hasOnly16Bits && maximum > largestOf16Bits) {
      throw new Error(
        `Images of ${name} have 16 bits a value, so that none can be above ${largestOf16Bits}, but there is ${given}. ` +
          `Give at most ${largestOf16Bits}.`,
      );
    }
    if (this.#largest <= maximum) return;
    throw new Error(`Images of ${name} have values up to ${this.#largest}, but there is ${given}. Give a larger one.`);
  }

  /** @throws Error where 16 bits hold numbers of fewer bits: only the user can tell them from dark images */
  requireScale(name: string): void {
    const maximum = this.likelyMaximum;
    if (maximum === null) return;
    throw new Error(
      `${this.#deep.length} of ${this.#files} images of ${name} have 16 bits a value (${listed(this.#deep)}), but ` +
        `none is above ${this.#largest} of ${largestOf16Bits}. Give maximum: ${maximum} if these are numbers ` +
        `of ${Math.log2(maximum + 1)} bits, or maximum: ${largestOf16Bits} if the images are that dark.`,
    );
  }
}

const largestOf16Bits = 65_535;
const mostListed = 3;

/** Images are decoded side by side, in no order. */
function listed(texts: readonly string[]): string {
  return texts.toSorted().slice(0, mostListed).join(', ') + (texts.length > mostListed ? ', ...' : '');
}

/** The colour space in which the values are as the file holds them. @throws Error where they cannot be read */
export function deepSpace({ depth, space }: Pick<Metadata, 'depth' | 'space'>, file: string): string {
  const isRead = ['grey16', 'rgb16', 'b-w', 'srgb', 'scrgb'].includes(space);
  if (isRead && ['ushort', 'uint', 'int', 'float'].includes(depth)) return space;
  throw new Error(`${file} holds ${depth} numbers in the colour space ${space}, which are not read. ${rewrite}`);
}

/**
 * Values of more than 8 bits as bytes: round(255 · value / maximum), by default of 65535. Nothing is cut off.
 * @param decoded values as float64
 * @throws Error that names the file, its values and the remedy
 */
export function bytesOf(
  { data, info: { width, height, channels } }: { data: Buffer; info: Raw },
  { depth }: Pick<Metadata, 'depth'>,
  file: string,
  maximum?: number,
) {
  const values = new Float64Array(new Uint8Array(data).buffer);
  const { smallest, largest } = rangeOf(values);
  if (depth !== 'ushort' && maximum === undefined) {
    throw new Error(
      `${file} holds ${depth} numbers, from ${smallest} to ${largest}: give maximum, the value that becomes 255.`,
    );
  }
  const top = maximum ?? largestOf16Bits;
  if (!(smallest >= 0 && largest <= top)) {
    const range = Number.isNaN(largest) ? 'values that are no numbers' : `values from ${smallest} to ${largest}`;
    throw new Error(`${file} holds ${range}, but the maximum ${top} allows those from 0 to it. ${rewrite}`);
  }
  const bytes = Buffer.from(values.map((value) => Math.round((255 * value) / top)));
  return { bytes, raw: { width, height, channels }, largest };
}

const rewrite = 'Give a larger maximum, or write the image with whole numbers from 0.';

/** NaN where a value is NaN. */
function rangeOf(values: Float64Array): { smallest: number; largest: number } {
  let [smallest, largest] = [Infinity, -Infinity];
  for (const value of values) {
    smallest = Math.min(smallest, value);
    largest = Math.max(largest, value);
  }
  return { smallest, largest };
}
