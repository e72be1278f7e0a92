import { z } from 'zod';

/** The inputs of a run's own samples, which pages show beside the predictions of these. */

/** Samples whose inputs a page may ask for at once. */
export const maximumInputs = 32;

export const inputsRequestSchema = z.strictObject({
  split: z.enum(['validation', 'test']),
  /** Places in the split, from 0. */
  samples: z.array(z.int().min(0)).min(1).max(maximumInputs),
});
export type InputsRequest = z.output<typeof inputsRequestSchema>;

/** A value of a row as a person reads it; null where it is missing. */
export interface ShownField {
  name: string;
  value: string | number | null;
}

/**
 * A part of a sample's input. `name` is that of the model's input or of the table's column; null for the only or main
 * one.
 */
export type InputPart =
  | { kind: 'image'; name: string | null; png: Uint8Array; height: number; width: number }
  | { kind: 'row'; name: string | null; fields: ShownField[]; /** Fields that are left out. */ hidden: number }
  | { kind: 'text'; name: string | null; text: string }
  /** Values `[steps, channels]`, row-major. */
  | { kind: 'series'; name: string | null; steps: number; channels: number; values: Float32Array };

export interface SampleInput {
  /** Place in the split. */
  sample: number;
  /** What the model gets, undone as far as the run kept how it was prepared. */
  parts: InputPart[];
}

export interface SampleInputs {
  inputs: SampleInput[];
  /** Possible differences from the time when the run trained. */
  warnings: string[];
}
