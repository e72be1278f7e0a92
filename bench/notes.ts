/** Remarks on each suite's figures, by suite, one paragraph each: what was measured, and why a target is missed. */
export const notes: Record<string, string[]> = {
  cluster: [
    'Without MPI, Tutti uses mapped memory on one machine. Calls of MPI through koffi and sched_yield are 60 % of an all-gather of 8 KB; mpi4py blocks in ' +
      'one call of the library. A thread for blocking calls would cost more: 11 to 31 µs to hand work over and get it back.',
    'The nodes are network namespaces of this machine, so the two cores that train also do the work of network cards: a megabyte of gradients crosses TCP ' +
      'at every step of some 14 ms, in 1.1 ms (mpi4py: 1.1 ms). The link is limited to 10 Gbit/s, without an added delay. Both runs of joint training use ' +
      'the program that delays frames by 50 ms, so that the ratio shows the delay alone.',
  ],
  collectives: [
    'Small arrays lie in memory that all ranks map; the last rank to arrive wakes the others with a futex. Through the hub, 8 KB took 160, 409 and 893 µs ' +
      'for 2, 4 and 8 ranks. With more ranks than cores, ranks take turns.',
    'Ranks sum large arrays in place with SIMD kernels, each rank its slice. The 28 to 33 ms of four ranks for 40 MB are the time of copying.',
  ],
  threads: [
    'Median steps of one member with --threads 2, in turns with one thread and with PyTorch on two. Results have the same ' +
      'bits with any number of threads. The steps of a recurrent layer run in one thread; its large products do not.',
  ],
  compute: [
    'V8 in Node 24 can join two 128-bit instructions of WebAssembly to one of AVX2. The matrix product is written for that and reaches 75 GFLOP/s on a core.',
    'A dense layer is one op, with one more for each of its gradients. The 8 members one by one gain from this more than the stack, which had few ops before.',
    'An LSTM of 128 units took 1.44 to 1.55 times as long as PyTorch in four runs. Three quarters of a step are matrix products, at 115 of the estimated ' +
      '130 GFLOP/s that 256-bit instructions allow on this processor.',
  ],
  dashboard: [
    'An appended point redraws the whole chart, in a browser without a GPU. Lines with more points than pixels are drawn as one stroke in each column of ' +
      'pixels. On a screen of double density, lines with slightly fewer points than pixels are drawn as zigzags and can take up to 1.4 s a frame.',
  ],
  desktop: [
    'The splash comes with the first picture of the page, before the hub is loaded. On this machine without a GPU, an Electron with one window that shows a ' +
      "word already takes 0.4 to 0.46 s to its first picture, longer than the target; Tutti's share is 0.2 s in the table. Without a GPU process " +
      '(`--disable-gpu`) that Electron is some 40 ms faster here. The tests use Electron 33, not the pinned 45.',
  ],
  frames: [
    'The chart of 64 ranks with 100,000 points each, before and after the redesign of the pages (commit 7f9b254b), in ten pairs of alternating order. Other ' +
      'programs used the machine: only the ratios count. More than eight ranks are drawn as one band. First draw and smoothing read all 6.4 million points.',
  ],
  job: [
    'On a machine with an Intel processor, an earlier version took 12.8 s to the end and 1.75 s to the first step; hub and worker had 113 and 125 MB at ' +
      'their peaks.',
  ],
  package: [
    'All files of the app on the disk, with the Electron 33 of the tests instead of the pinned 45. `npm run sizes` prints the same parts after ' +
      '`npm run package`.',
  ],
  parallel: [
    'Whole commands, with 0.4 s each for the start of the hub and of a worker. While two members train, the hub takes 2 % of a core, members wait for each ' +
      'other at each evaluation, and they write checkpoints of the ensemble besides their own. On a machine with an Intel processor, runs gave 1.77 to 1.9, ' +
      'and the peer 2.01.',
  ],
  pipeline: [
    'Memory: 48 dense layers of 256 units, batches of 2,048 samples, Adam, two steps. The heap of the wasm backend never shrinks, so its size at the end is ' +
      'its peak. Four stages pass 16 micro-batches of 128 samples with 1F1B. Each rank also builds the whole model once. Resident memory includes Node, its ' +
      'compiled code and the samples, some 130 MB.',
    'Samples per second: 16 layers, batches of 1,024, two cores, all variants in turns, the fastest step of three turns. Each micro-batch costs separate ' +
      'calls of kernels: one process needs a fifth more for 8 of them. Four stages on two cores gain memory, not time.',
  ],
  predictions: [
    'Both sides use one core, in turns. Predicting also reads 70 MB of text, standardizes, combines the members and writes three numbers a row. A row takes ' +
      'about 2 µs of the processor, of which some 1.1 are the forward passes of members with 64 units; files with texts, quotes or categories go through a ' +
      'general reader (7.8 µs).',
  ],
  search: [
    'Suggestions: processor time, in a study of 2,000 trials one after the other, with six parameters of all kinds.',
    'Trials: whole commands on two cores; one network with 50 units each, 40 epochs of 800 drawn samples.',
  ],
  serve: [
    'Each client sends one sample at a time and waits for the answer. The peer is FastAPI with one endpoint in which PyTorch computes all members, in turns ' +
      'with Tutti. Tutti joins waiting requests into one batch, so it gains with the number of clients. With one client the peer answers 0.1 to 1.4 ms ' +
      'earlier (medians), because a request to Tutti passes through two processes.',
  ],
  sharded: [
    'A network of 11 dense layers of 2,048 units (46 million weights, 176 MiB), batches of 16 samples per rank, Adam, six steps; 4 ranks share two cores. ' +
      'The heap of the wasm backend never shrinks and grows by a fifth at a time, so its size at the end is its peak, rounded up. Resident memory includes ' +
      'Node, its compiled code, and arrays and shared memory of the exchange.',
    'Each rank builds the whole model once, so no stage falls below its weights. A rank whose state has at most 256 MiB also holds its last position for the ' +
      'death of the hub, which here costs ranks in stage 3 up to the size of their slices. Stage 2 exchanges buckets during the backward pass; stage 3 ' +
      'cannot, because gathers come between.',
  ],
  streams: [
    'The shards were just written, so the system may still hold them in its own cache, which does not count as resident memory. The step is the median; the ' +
      'share that waits for a batch grows with other load on the machine.',
  ],
  strategies: [
    'Two ranks that only wait for each other at each step take 2 to 7 % longer than two that do not: a step of 12 ms varies by 1 to 2 ms on this machine. ' +
      'That is the whole cost of joint training. Four runs on an Intel machine gave 4 to 5.7 %, pipelined 2.8 to 7.1 %. Exchanges through the hub cost ' +
      '12.5 %. A pipelined rank holds activations of two batches and takes up to 6 % more processor time.',
    'The time of the two CNNs with PyTorch includes its import.',
    'Data-parallel training exchanges 7 MB at each step. The peer is DistributedDataParallel over gloo, in turns. The all-reduce takes 3 ms when other work ' +
      'has emptied the caches, and waiting for the slower rank 0.7 ms. Exchange during the backward pass could hide little: 85 % of the gradients belong to ' +
      'the first layer, which come last.',
  ],
};
