/** What should be known beside a suite's figures: where the time goes, why a target is missed. By suite, a paragraph each. */
export const notes: Record<string, string[]> = {
  collectives: [
    'Small arrays of ranks that exchange at every step lie in memory that all ranks have mapped, where the last one to come wakes the others by a futex; ' +
      'through the hub 8 KB took 160, 409 and 893 µs for 2, 4 and 8 ranks. With more ranks than cores they take turns: of 8 ranks on two cores each computes some 50 µs a ' +
      'call, and is woken once. Yielding the core instead of sleeping did not help; spinning, where each rank has a core, saves half.',
    'Large arrays are summed in place by SIMD kernels, each rank its slice, in pieces that stay in the second-level cache. Four ranks on two ' +
      'cores take 28 to 33 ms for 40 MB, copying: whether they spin before they sleep made no difference.',
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
    'Two ranks that do nothing but wait for each other at each step, at a barrier, take 2 to 7 % longer than two that do not: a step of 12 ms varies by 1 to ' +
      '2 ms on this machine, and each waits for the slower one. That is all that joint training costs: it takes as much processor time as independent training ' +
      'does. Four runs of the same day gave 4 to 5.7 %, pipelined 2.8 to 7.1 %. While exchanges went through the hub it cost 12.5 %. Pipelined, a rank does not wait, but has activations of two batches alive, and takes ' +
      'up to 6 % more processor time.',
    'Data-parallel training exchanges 7 MB at each step; beside it in turns, PyTorch with DistributedDataParallel over gloo. An all-reduce of that size, where other work has emptied the caches, takes ' +
      '3 ms, and waiting for the slower rank 0.7. Gradients are exchanged where they lie, which gained 13 % over copying them to one array and back, ' +
      "measured in turns. To exchange while the backward pass still computes was not tried: it could hide little, as 85 % of this network's gradients are those of the first layer, which come last.",
  ],
};
