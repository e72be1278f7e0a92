/** What should be known beside a suite's figures: where the time goes, why a target is missed. By suite, a paragraph each. */
export const notes: Record<string, string[]> = {
  collectives: [
    'Ranks, and the hub that relays what they exchange, share two cores here. 8 KB go through the hub: with 2 ranks three processes take turns ' +
      'on two cores, with 8 ranks nine do, and each message wakes a process that waits for a core. That is where the time of 4 and 8 ranks goes: a ' +
      'rank alone writes and reads its 8 KB in 20 µs. Gloo, whose ranks wait actively, takes 9 to 14 times as long there. ' +
      'Small arrays do not go through mapped memory, as there may be several of them under way at a time.',
    'Large arrays are summed in place by SIMD kernels, each rank its slice, in pieces that stay in the second-level cache.',
  ],
  compute: [
    'WebAssembly has vectors of 128 bits; the V8 of Node 24 can join two instructions to one of AVX2, which the own matrix product is written ' +
      'for: 75 to 80 GFLOP/s on a core where it had 45. What is left of the CNN with own kernels is the product (two thirds), then the columns ' +
      'that convolutions are made of.',
    'A dense layer is one op, and one for each of its gradients, where TensorFlow.js takes twenty: small networks train in half the time that ' +
      'they took. That is what "one by one" gained, too: 8 members 64-64-10 by themselves took 1.42 ms a step before and take 0.8 ms now, while ' +
      'the stack, which had few ops already, is where it was. Its arithmetic alone is 0.15 ms. Tried for it without effect: wide products ' +
      'for matrices this small, and packing the ragged rows of 16 samples with vectors.',
  ],
  parallel: [
    'Whole commands, so starting up is in both of them: 0.4 s of the hub, 0.4 s of a worker. While two members train, the hub takes 2 % of a core ' +
      'for recording them, members wait for each other at each evaluation, and both share the memory. Two processes that only multiply ' +
      'matrices, and share nothing but the machine, are the peer.',
  ],
  strategies: [
    'Data-parallel training of this network is limited by memory here, not by the exchange alone: two independent members of it, which ' +
      'exchange nothing, gain no more than the row below says, as Adam passes over 7 MB of weights, gradients and moments at every step. ' +
      'PyTorch with DistributedDataParallel gains less than that, too. What the exchange adds: gradients are copied to a bucket, the bucket to ' +
      'shared memory, slices are reduced (1.1 ms) and read back (0.4 ms), and each step waits for the slower rank.',
    'Joint training waits for the slower rank at each step, and two processes on a machine with two cores are never equally fast; pipelined, ' +
      'a rank waits only when it is a whole step ahead. Shares below zero are the noise of such short runs.',
  ],
};
