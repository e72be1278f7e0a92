/**
 * The part of hyparquet-writer 0.17.0 that predictions use. Its modules are loaded only when a Parquet file is written.
 */

declare module 'hyparquet-writer' {
  interface SchemaElement {
    name: string;
    type?: 'DOUBLE' | 'BOOLEAN' | 'BYTE_ARRAY' | 'INT32';
    converted_type?: 'UTF8';
    repetition_type?: 'REQUIRED';
    num_children?: number;
  }

  interface Writer {
    finish(): void | Promise<void>;
  }

  export class ParquetWriter {
    constructor(options: { writer: Writer; schema: SchemaElement[]; createdBy?: string });
    write(options: {
      columnData: { name: string; data: ArrayLike<unknown> }[];
      rowGroupSize?: number;
    }): void | Promise<void>;
    finish(): void | Promise<void>;
  }

  export function fileWriter(path: string): Writer;
}
