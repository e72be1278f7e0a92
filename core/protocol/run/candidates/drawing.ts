import { z } from 'zod';

/** The task of the process that draws molecules (`workers/entries/draw-molecules.ts`). */
export const drawingTaskSchema = z.strictObject({ smiles: z.array(z.string()).max(1000) });
export type DrawingTask = z.output<typeof drawingTaskSchema>;

export type DrawingReply =
  { type: 'drawn'; drawings: (MoleculeDrawing | null)[] } | { type: 'failed'; message: string; stack: string };

/** The structure of a molecule as lines and areas, without a background. Its colours are left to whoever shows it. */
export interface MoleculeDrawing {
  width: number;
  height: number;
  parts: DrawingPart[];
}

/** Shapes of one look. */
export interface DrawingPart {
  /** The path in SVG's syntax: letters, numbers, commas and spaces. */
  d: string;
  /** The atomic number of the element whose colour the shapes have; 0: that of text. */
  element: number;
  isFilled: boolean;
  /** 0: without an outline. */
  strokeWidth: number;
}

/** Elements that a drawing colours, by their atomic numbers: N, O, F, P, S, Cl, Br, I. */
export const coloredElements = [7, 8, 9, 15, 16, 17, 35, 53] as const;
