/** The part of hyparquet 1.31.5 that tables use. Its modules are loaded only when a Parquet file is read. */

declare module 'hyparquet' {
  interface ColumnMetaData {
    type: string;
    codec: string;
    num_values: bigint;
    total_compressed_size: bigint;
    data_page_offset: bigint;
    dictionary_page_offset?: bigint;
  }

  interface FileMetaData {
    schema: { name: string; num_children?: number; repetition_type?: string }[];
    num_rows: bigint;
    row_groups: { columns: { meta_data?: ColumnMetaData }[]; num_rows: bigint }[];
  }

  type Compressors = Record<string, (bytes: Uint8Array, size: number) => Uint8Array>;

  export function parquetMetadata(file: ArrayBuffer): FileMetaData;
  export function parquetReadObjects(options: {
    file: ArrayBuffer;
    metadata: FileMetaData;
    compressors: Compressors;
    rowStart?: number;
    rowEnd?: number;
  }): Promise<Record<string, unknown>[]>;
}

declare module 'hyparquet/src/column.js' {
  interface PageHeader {
    type?: string;
    compressed_page_size: number;
    uncompressed_page_size: number;
    data_page_header?: { num_values: number; encoding?: string };
    dictionary_page_header?: { num_values: number };
    data_page_header_v2?: {
      num_values: number;
      num_nulls: number;
      encoding?: string;
      definition_levels_byte_length: number;
      repetition_levels_byte_length: number;
      is_compressed?: boolean;
    };
  }

  export function parquetHeader(reader: { view: DataView; offset: number }): PageHeader;
}

declare module 'hyparquet/src/datapage.js' {
  export function decompressPage(
    bytes: Uint8Array,
    size: number,
    codec: string,
    compressors: Record<string, (bytes: Uint8Array, size: number) => Uint8Array>,
  ): Uint8Array;
}
