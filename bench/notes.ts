/** What should be known beside a suite's figures: where the time goes, why a target is missed. By suite, a paragraph each. */
export const notes: Record<string, string[]> = {
  collectives: [
    'Ranks, and the hub that relays small arrays between them, share two cores here: with 2 ranks three processes take turns on them, with ' +
      '8 ranks nine do, and each message wakes one that waits for a core. Two ranks took 93 to 190 µs for 8 KB in runs of the same day. ' +
      'Gloo takes 9 to 13 times as long with 4 and 8 ranks. Small arrays do not go through mapped memory, where ' +
      'ranks would not need the hub, as several of them may be under way at a time.',
    'Large arrays are summed in place by SIMD kernels, each rank its slice, in pieces that stay in the second-level cache. Four ranks on two ' +
      'cores take 28 to 31 ms for 40 MB.',
  ],
  compute: [
    'WebAssembly has vectors of 128 bits; the V8 of Node 24 can join two instructions to one of AVX2, which the own matrix product is written ' +
      'for: 75 GFLOP/s on a core where it had 45.',
    'With OpenBLAS, the CNN took between 0.9 and 1.2 times as long as PyTorch in runs of the same day: our 20 to 22 ms hardly change, while ' +
      'PyTorch takes 17 to 24. Three quarters of it are the passes of the two convolutions.',
    'A dense layer is one op, and one for each of its gradients, five for a sigmoid layer where TensorFlow.js takes sixteen: small networks train in half the time that ' +
      'they took. So do the 8 members one by one (1.42 ms a step before, 0.84 now), and the stack, which had few ops already and takes as long as ' +
      'before, gains less over them. More than half of its time is in kernels. Tried without effect: wide products for matrices this small, and packing ' +
      'the ragged rows of 16 samples with vectors.',
  ],
  dashboard: [
    'An appended point has the whole chart drawn anew, by a browser without a GPU. Of 32 ms before, 27 were the rasteriser: the border of ' +
      'the plot cut through pixels, for which it blended each pixel inside in three times the time, and lines with more points than pixels were ' +
      'stroked as the zigzags that they are. The border now stands at whole pixels, and such a line is one upright stroke in each column of pixels. Of ' +
      '9 to 10 ms now (95th percentile 13 to 17, in turns with 35 to 56 before), the rasteriser takes 2.6, finding and issuing the strokes 3, the axes by Chart.js 1, texts beside the chart, by Vue, 1. ' +
      'Filling a rectangle for each column, or one outline around them, took at least three times as long as strokes; options of the canvas made no difference. ' +
      'On a screen of double density, where lines are two pixels wide, a frame took 1.4 s and takes 19 ms; lines with a little fewer points than ' +
      'pixels, which are still stroked as they are, can take as long there as all did.',
  ],
  parallel: [
    'Whole commands, so starting up is in both of them: 0.4 s of the hub, 0.4 s of a worker. While two members train, the hub takes 2 % of a core ' +
      'for recording them, members wait for each other at each evaluation, and write checkpoints of the ensemble besides their own. Two ' +
      'processes that only multiply matrices, and share nothing but the machine, are the peer. Runs of the same day gave 1.77 to 1.9.',
  ],
  strategies: [
    'Data-parallel training gains what PyTorch gains with DistributedDataParallel over gloo, beside it in turns. Of a step of 19 ms, 11 are ' +
      'forward and backward passes, 2.7 the update, and 5 the exchange of 7 MB: arrays are copied to shared memory (0.4 ms), slices ' +
      'reduced (1.1) and read back (0.4), and most of the rest is waiting for the slower rank. Exchanging while the backward pass ' +
      'still computes was not tried.',
    'Joint training waits for the slower of the ranks at each step; the exchange of 8 KB itself takes 0.1 to 0.2 ms. A step took 14.4 ms, and its ' +
      'backward pass varied by 3 ms, while large batches were garbage that had all garbage collected every sixth step; since they take ' +
      'turns in the same memory it takes 10.5 ms. How uneven the passes still are was not measured again.',
  ],
};
