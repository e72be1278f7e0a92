/** Remarks on each suite's figures, by suite, one paragraph each: where the time goes, and why a target is missed. */
export const notes: Record<string, string[]> = {
  cluster: [
    'An all-gather of 8 KB of two ranks takes 11 to 20 µs, of which calls of MPI through koffi and sched_yield are 60 % (profile of 20,000 calls: median 12.5 µs); mpi4py blocks in one call of the library. A call whose parts are ' +
      'there within some 20 µs no longer waits for a turn of the event loop, which took 20 instead of 17 µs, and with four ranks on two cores some 230 instead of 90 to 190 µs (measured in turns beside other work). A thread for blocking calls would cost more: ' +
      'to hand work to a thread and get it back takes 11 to 31 µs. Polling without giving up the core for the first 50 polls made no clear difference. On one machine Tutti uses mapped memory unless MPI is asked for.',
    'The nodes are network namespaces of this machine, so what a cluster leaves to network cards, the two cores that train do as well: a megabyte of gradients crosses TCP at every step of some 14 ms, in 1.1 ms (mpi4py: 1.1 ms). ' +
      'Earlier, arrays travelled through memory that each call allocated: 1.8 to 2.4 ms a call and more for the garbage collector, and training reached 0.71 to 0.78 x. The link is limited to 10 Gbit/s; a delay of 0.1 ms is not emulated, because the ' +
      'kernel has no netem. The link of 50 ms each way delays every frame in a program of the benchmark. Both joint runs use it, so that the ratio shows the delay alone.',
  ],
  collectives: [
    'Ranks that exchange at every step keep small arrays in memory that all of them map; the last rank to arrive wakes the others with a futex. ' +
      'A call whose arrays are there within some 10 µs ends without a turn of the event loop: two ranks took 20 µs before, and eight 370. Through the hub, 8 KB took 160, 409 and 893 µs for 2, 4 and 8 ranks. With more ranks than cores, ranks take turns: with 8 ranks on two cores, each rank computes ' +
      'for some 50 µs per call, and is woken once. Yielding the core instead of sleeping did not help; spinning saves half of the time where each rank has a core.',
    'Ranks sum large arrays in place with SIMD kernels, each rank its slice, in pieces that stay in the second-level cache. Four ranks on two ' +
      'cores take 28 to 33 ms for 40 MB, which is the time of copying: spinning before sleeping made no difference.',
  ],
  compute: [
    'WebAssembly has 128-bit vectors. V8 in Node 24 can join two instructions to one of AVX2, and the matrix product is written for that: ' +
      'it reaches 75 GFLOP/s on a core, up from 45.',
    'A dense layer is one op, with one more for each of its gradients: five ops for a sigmoid layer, where TensorFlow.js takes sixteen. Small networks therefore train in ' +
      'half the previous time. So do the 8 members one by one (0.84 ms per step, down from 1.42). The stack had few ops before and takes as long as ' +
      'before, so it gains less over separate members. More than half of its time is in kernels. Without effect: wide products for matrices this small, and packing ' +
      'the ragged rows of 16 samples with vectors.',
    'An LSTM of 128 units takes 1.44 to 1.55 times as long as PyTorch in four runs (goal: 1.5), down from 2.1: the weights of the state are packed once per call, the steps run in 256-bit ' +
      'instructions, and slices stay in the memory of the kernels. Three quarters of a step are matrix products, which reach 115 of the estimated 130 GFLOP/s that 256-bit ' +
      'instructions allow on this processor. Joining the two products of the weight gradients would gain some 4 %; a layout by batch instead of time made no difference.',
  ],
  dashboard: [
    'An appended point redraws the whole chart, in a browser without a GPU. The rasteriser took 27 of the previous 32 ms: the border of ' +
      'the plot cut through pixels, which tripled the time of each pixel inside, and lines with more points than pixels were ' +
      'drawn as zigzags. The border now lies on whole pixels, and such a line is one vertical stroke in each column of pixels. Of ' +
      'the present 9 to 10 ms (95th percentile 13 to 17, measured in turns with 35 to 56 before), the rasteriser takes 2.6, finding and issuing the strokes 3, the axes by Chart.js 1, and texts beside the chart, by Vue, 1. ' +
      'Filling a rectangle for each column, or one outline around them, took at least three times as long as strokes; options of the canvas made no difference. ' +
      'On a screen of double density, where lines are two pixels wide, a frame takes 19 ms, down from 1.4 s. Lines with slightly fewer points than ' +
      'pixels are still drawn as zigzags there and can take as long as before.',
  ],
  desktop: [
    'The splash comes with the first picture of the page, before the hub is loaded. The peer is the same Electron with one window that shows a word, in turns: on this machine without a GPU it takes longer ' +
      'than the target by itself, so that no app in Electron can meet it here. In another series a bare Electron has its first module after 0.15 s, is ready after 0.25 s, has a window after 0.3 s, and a picture in it after 0.4 to 0.46 s.',
    "Tutti's share is 0.2 s in the table. In series of nine starts, before and after each change, it fell from 165 ms to some 70 to 100; why the table shows more was not taken apart. What helped: zod is part of the bundle instead of some hundred files, which the start read one by one (98 ms); the file with the windows " +
      'is read synchronously, because the answer to an asynchronous read waits some 40 ms for Electron. A further 93 ms were not the app at all, but the thread for hooks with which the tests give their Electron a SQLite; it now starts after the splash. ' +
      'Without a difference beyond the noise: a page whose style sheets come after the splash, and a window that is shown only with its first picture. Without a GPU process (`--disable-gpu`) the bare Electron has its picture some 40 ms earlier here, ' +
      "because Chromium's attempts to start one fail. V8's compile cache was not tried: the Electron 33 of the tests has no `module.enableCompileCache`. Electron 33 is not the pinned 45.",
  ],
  frames: [
    'The chart of 64 ranks with 100,000 points each, before and after the redesign of the pages (commit 7f9b254b against the present one), in ten pairs of alternating order; ' +
      'the value of a pair is the ratio of its medians. Other programs used the machine, so that the milliseconds are several times those of an idle one: only the ratios count. ' +
      'An appended point and a zoom are faster than before, because more than eight ranks are drawn as one band instead of a line each. The first draw and ' +
      'another smoothing, which read all 6.4 million points, take as long as before: an earlier measurement with three smoothings a pair instead of nine gave 0.96 and 1.15.',
  ],
  job: [
    'On another machine, with an Intel processor, an earlier version took 12.8 s to the end and 1.75 s to the first step, and hub and worker had 113 and 125 MB at their peaks. How much of the difference is the processor was not measured.',
  ],
  package: [
    'All files of the app as it lies on the disk, without what the file system adds, with the Electron 33 of the tests and its stand-ins instead of the pinned 45. `npm run sizes` prints the same parts after `npm run package`.',
  ],
  parallel: [
    'These are whole commands and include the start: 0.4 s for the hub, 0.4 s for a worker. While two members train, the hub takes 2 % of a core ' +
      'for recording, members wait for each other at each evaluation, and they write checkpoints of the ensemble besides their own. The peer is two ' +
      'processes that only multiply matrices and share nothing but the machine. Two runs on this machine gave 1.68; on another one, with an Intel processor, runs of one day gave 1.77 to 1.9, and the peer 2.01. The difference was not taken apart.',
  ],
  pipeline: [
    'A network of 48 dense layers of 256 units, batches of 2,048 samples, Adam, two steps. The heap of the wasm backend holds all tensors; it never shrinks, so its size at the end is its peak. In one process, ' +
      'activations take most of it. Four stages pass 16 micro-batches of 128 samples with 1F1B, so the first holds the activations of 4 of them for a quarter of the layers: a part of the gain is owed to the micro-batches. Each rank also ' +
      'builds the whole model once, before it frees the other stages. Resident memory includes Node, its compiled code and the samples, some 130 MB, which do not become smaller.',
    'Samples per second: 16 layers, batches of 1,024, the same number of layers on each rank, two cores. All variants ran in turns on a quiet machine, and the fastest step of three turns counts. Micro-batches cost time: one process needs a ' +
      'fifth more for 8 of them; each has separate calls of kernels and adds its gradients. Two stages compute the same micro-batches 1.5 to 1.6 times as fast as one process. They wait longer than the share (S − 1) / (P + S − 1) of equal stages says. ' +
      'GPipe, which computes all forward passes ahead, waited slightly less. Four stages on two cores gain memory, not time.',
  ],
  predictions: [
    'Both sides use one core, in turns. The forward passes read their outputs back; predicting also reads 70 MB of text, standardizes, combines the members and writes three ' +
      'numbers a row. Rows of plain numbers are read from bytes straight to columns, and numbers are written to bytes digit by digit: with csv-parse and strings, a row took 7.8 µs ' +
      'of the processor, with these about 2, of which some 1.1 are the forward passes of members with 64 units. With texts, quotes or categories, the general reader is used, at its old speed.',
  ],
  search: [
    'Processor time of one suggestion, in a study of 2,000 trials that run one after the other, with six parameters of all kinds. Most of it goes into the mass of the normal ' +
      'kernels over the intervals of whole numbers.',
    'The trials are whole commands on two cores: one network with 50 units each, 40 epochs of 800 drawn samples; with the validation and test splits these are as many as UCI has red wines.',
  ],
  serve: [
    'Each client sends one sample at a time and waits for the answer. The peer is what a user would write: FastAPI with one endpoint, in which PyTorch computes all members. It and Tutti answer in turns. ' +
      'Tutti joins the requests that wait into one batch, so it gains with the number of clients. With one client the peer answers ' +
      '0.1 to 1.4 ms earlier (medians). A request to Tutti passes through two processes. For the smallest network (10th percentiles on a busy machine), the server ' +
      'takes 25 µs more than a bare server of Node, the pipe to the process of the models and back 15 µs, tensors as messages 13 µs, the models 40 µs; what remains ' +
      'of the latency is waking three processes in turn on two cores. Reading 784 numbers of a request has since become five times as fast (52 to 11 µs).',
  ],
  sharded: [
    'A network of 11 dense layers of 2,048 units (46 million weights, 176 MiB), batches of 16 samples per rank, Adam, six steps on a quiet machine; ' +
      '4 ranks share two cores. The heap of the wasm backend holds all tensors; it never shrinks and grows by a fifth at a time, so its size at the end is its peak, ' +
      'rounded up. Resident memory is the largest since the start; it includes Node, its compiled code, and arrays and shared memory of the exchange.',
    'Each rank builds the whole model once, so no stage falls below its weights. A rank whose state has at most 256 MiB also holds its last position for the death of the hub, which here ' +
      'costs ranks in stage 3 up to the size of their slices.',
    'Buckets of stage 2 travel during the backward pass. In alternating commands (2 ranks, 64 samples per rank) a median step took 1.39, 2.83, 1.38 and 1.45 s with that, and 1.61, 1.94, 1.81, 2.43 and ' +
      '2.98 s where each bucket is awaited: medians of 1.42 and 1.94 s, on a machine so loaded that ranks wait for each other for longer than they compute. In stage 3 it is not possible: gathers come between, and large arrays travel ' +
      'one after the other. Sharded ranks copy gradients to a flat array, which data-parallel ones exchange in place, so their steps take somewhat longer where weights dominate. ' +
      'Before ranks gathered and reduced into arrays that stay, these steps took 580, 800 and 1,170 ms with 2 ranks in stages 1, 2 and 3: each step allocated whole models, whose pages the system had to clear.',
  ],
  streams: [
    'The shards were just written, so that the system may still hold them in its own cache, which does not count as resident memory of the process. The step is the median; the share ' +
      'that waits for a batch is that of all steps, and grows with other load on the machine.',
  ],
  strategies: [
    'Two ranks that only wait for each other at each step, at a barrier, take 2 to 7 % longer than two that do not: a step of 12 ms varies by 1 to ' +
      '2 ms on this machine, and each rank waits for the slower one. That is the whole cost of joint training, which takes as much processor time as independent training. ' +
      'Four runs on an Intel machine gave 4 to 5.7 %, pipelined 2.8 to 7.1 %; the table is of an AMD machine. Exchanges through the hub cost 12.5 %. A pipelined rank does not wait, but holds activations of two batches and takes ' +
      'up to 6 % more processor time.',
    'Of the two CNNs with PyTorch, a part of the time is the import of PyTorch: beside version 1.13, which loads faster, the ratio was 0.7 to 0.9 on the Intel machine.',
    'Data-parallel training exchanges 7 MB at each step. The peer, measured in turns, is PyTorch with DistributedDataParallel over gloo. An all-reduce of that size takes ' +
      '3 ms when other work has emptied the caches, and waiting for the slower rank 0.7 ms. Exchanging gradients in place gained 13 % over copying them to one array and back, ' +
      "measured in turns. Exchanging during the backward pass was not tried: it could hide little, because 85 % of this network's gradients belong to the first layer, which come last.",
  ],
};
