/** The part of sharp 0.35.5 that Tutti and its tests use. It is loaded only when images are read. */

declare module 'sharp' {
  export interface Raw {
    width: number;
    height: number;
    channels: 1 | 2 | 3 | 4;
    /** Of a picture of several pages below each other. */
    pageHeight?: number;
  }

  export interface Metadata {
    width: number;
    height: number;
    /** `uchar`, `ushort`, `short`, `uint`, `int`, `float`, ... */
    depth: string;
    space: string;
    pages?: number;
    /** `png`, `jpeg`, `webp`, `tiff` */
    format: string;
    channels: number;
    hasAlpha: boolean;
    isPalette: boolean;
    /** Of the EXIF data, 1 to 8; from 5 on height and width are exchanged. */
    orientation?: number;
  }

  export interface Sharp {
    autoOrient(): Sharp;
    clone(): Sharp;
    composite(pictures: { input: Buffer; left: number; top: number }[]): Sharp;
    ensureAlpha(): Sharp;
    extract(part: { left: number; top: number; width: number; height: number }): Sharp;
    metadata(): Promise<Metadata>;
    flatten(options: { background: string }): Sharp;
    jpeg(options?: { quality?: number }): Sharp;
    png(options?: { palette?: boolean; colours?: number }): Sharp;
    pipelineColourspace(space: string): Sharp;
    raw(options?: { depth: 'double' }): Sharp;
    resize(options: { height: number; width: number; fit: 'contain' | 'cover' | 'fill'; background: string }): Sharp;
    tiff(options?: { compression?: 'lzw' }): Sharp;
    toBuffer(): Promise<Buffer>;
    toBuffer(options: { resolveWithObject: true }): Promise<{ data: Buffer; info: Raw }>;
    toColourspace(space: string): Sharp;
    toFile(path: string): Promise<unknown>;
    webp(options?: { lossless?: boolean; quality?: number; effort?: number }): Sharp;
    withMetadata(options: { orientation: number }): Sharp;
  }

  interface Options {
    limitInputPixels?: number;
    failOn?: 'error';
    raw?: Raw;
    create?: Raw & { background: string };
  }

  export default function sharp(input: Buffer, options?: Options): Sharp;
  export default function sharp(options: Options): Sharp;
}
