/**
 * The window of a convolution or pool that moves over images `[B, H, W, C]`: int32 values.
 * `workers/backends/wasm/kernels/window.ts` writes the first 13 in this order. Positions of the window count over
 * batch, rows and columns of the output.
 */
@unmanaged
export class Window {
  height: i32 = 0;
  width: i32 = 0;
  channels: i32 = 0;
  outputHeight: i32 = 0;
  outputWidth: i32 = 0;
  kernelHeight: i32 = 0;
  kernelWidth: i32 = 0;
  strideHeight: i32 = 0;
  strideWidth: i32 = 0;
  dilationHeight: i32 = 0;
  dilationWidth: i32 = 0;
  padTop: i32 = 0;
  padLeft: i32 = 0;
  /**
   * The window's place: its column in the output, its first row and column in the image, and the image's first row in
   * the batch.
   */
  outputColumn: i32 = 0;
  top: i32 = 0;
  left: i32 = 0;
  imageRow: i32 = 0;

  moveTo(position: i32): void {
    const outputRow = position / this.outputWidth;
    const image = outputRow / this.outputHeight;
    this.top = (outputRow - image * this.outputHeight) * this.strideHeight - this.padTop;
    this.outputColumn = position - outputRow * this.outputWidth;
    this.left = this.outputColumn * this.strideWidth - this.padLeft;
    this.imageRow = image * this.height;
  }

  /** Index of the first value of the image row under a row of the window; -1 for padding. */
  @inline
  rowUnder(kernelRow: i32): i32 {
    const row = this.top + kernelRow * this.dilationHeight;
    return row < 0 || row >= this.height ? -1 : (this.imageRow + row) * this.width * this.channels;
  }

  /** Index of the first value of the pixel under a place of the window, `ahead` positions further; -1 for padding. */
  @inline
  pixelUnder(kernelRow: i32, kernelColumn: i32, ahead: i32 = 0): i32 {
    const row = this.rowUnder(kernelRow);
    const column = this.left + ahead * this.strideWidth + kernelColumn * this.dilationWidth;
    return row < 0 || column < 0 || column >= this.width ? -1 : row + column * this.channels;
  }

  /** The ranges (end exclusive) of the window's rows and columns that are not padding. For windows without dilation. */
  @inline
  firstRow(): i32 {
    return max(0, -this.top);
  }

  @inline
  lastRow(): i32 {
    return min(this.kernelHeight, this.height - this.top);
  }

  @inline
  firstColumn(): i32 {
    return max(0, -this.left);
  }

  @inline
  lastColumn(): i32 {
    return min(this.kernelWidth, this.width - this.left);
  }

  /** The number of pixels that the window covers. */
  @inline
  covered(): i32 {
    return (this.lastRow() - this.firstRow()) * (this.lastColumn() - this.firstColumn());
  }
}
