"""The runs, with the options of Tutti's configuration (`core/protocol/run/config.ts`)."""

ADAM = {"kind": "adam", "learningRate": 0.01}
SGD = {"kind": "sgd", "learningRate": 0.05, "momentum": 0.9}
NESTEROV = {"kind": "sgd", "learningRate": 0.03, "momentum": 0.9, "nesterov": True, "weightDecay": 0.01}
ADAMW = {"kind": "adamw", "learningRate": 0.01, "weightDecay": 0.05}
ONE_CYCLE = {"kind": "one-cycle", "risingFraction": 0.3, "startDivisor": 25, "finalDivisor": 10}
RMSPROP = {"kind": "rmsprop", "learningRate": 0.005, "rho": 0.95, "centered": True, "momentum": 0.8, "weightDecay": 0.01}
LION = {"kind": "lion", "learningRate": 0.002, "beta1": 0.9, "beta2": 0.99, "weightDecay": 0.1}
LAMB = {"kind": "lamb", "learningRate": 0.01, "beta1": 0.9, "beta2": 0.999, "weightDecay": 0.05}
# The average of the weights that is evaluated.
EMA = {"decay": 0.9}
COSINE = {"kind": "cosine", "warmupSteps": 10, "floorFraction": 0.1}


def run(name, network="mlp", **config):
    defaults = {"members": 3, "batchSize": 8, "samples": 53, "seed": 11, "maxSteps": 100, "optimizer": ADAM}
    return {"name": name, "network": network, **defaults, "recordedSteps": [1, 10, 50, 100], **config}


def independent(name, network="mlp", sampler="shuffled", **config):
    return run(name, network, strategy={"kind": "independent"}, sampler=sampler, **config)


def joint(name, mode, network="mlp", **config):
    return run(name, network, strategy={"kind": "joint", "mode": mode}, sampler="shared", **config)


def coupled(name, network="mlp", **config):
    strategy = {"kind": "coupled", "couplingWeight": 0.7, "unlabelledBatchSize": 6}
    return run(name, network, strategy=strategy, sampler="shuffled", **config)


def data_parallel(name, network="mlp", accumulate=1, compression="none", **config):
    strategy = {"kind": "data-parallel", "accumulate": accumulate, "compression": compression}
    return run(name, network, strategy=strategy, sampler="sharded-uneven", **config)


def hdet(name, network="mlp", options=None, **config):
    strategy = {
        "kind": "hdet",
        "accumulate": 1,
        "compression": "none",
        "spread": 0.4,
        "diverge": ["learningRate"],
        "averageEverySteps": 15,
        "gradientSync": True,
        "adapt": True,
        "warmupSteps": 30,
        "lossScale": 0.1,
        "adaptation": 0.5,
        "inertia": 0.9,
        "groups": [],
        **(options or {}),
    }
    return run(name, network, strategy=strategy, sampler="sharded-uneven", **config)


# 21 samples over 4 ranks: the first has 6, the others 5. In batches of 5 the others have an empty batch while the first has one of 1.
EMPTY = {"members": 4, "samples": 21, "batchSize": 5}
# The weights of a layer train more slowly, and without decay; the bias of another is frozen.
GROUPS = {"groups": [{"weights": "hidden/kernel", "rateFactor": 0.3, "weightDecay": 0}, {"weights": "out/bias", "rateFactor": 0}]}
# The labels of the loss are smoothed, its logits divided.
SOFT = {"loss": {"labelSmoothing": 0.1, "temperature": 1.5}}
HELD = {"hold": {"untilStep": 30, "partialBatches": False}}
HELD_IN_PART = {"hold": {"untilStep": 0, "partialBatches": True}}

FAMILIES = {
    "independent": [
        independent("uneven last batch, warm-up and cosine, averaged", schedule=COSINE, ema=EMA),
        independent("Nesterov momentum and decay, samples for all, averaged", sampler="shared", optimizer=NESTEROV, ema=EMA),
        independent("batch normalisation, one-cycle", "normalized", optimizer=SGD, schedule=ONE_CYCLE),
        independent("convolution of stride 2, decoupled decay", "convolutional", optimizer=ADAMW),
        independent("a loss that reaches half of the weights in 30 steps, averaged", "heads", samples=40, ema=EMA, **HELD),
        independent("regularizers and constraints, decoupled decay, averaged", "penalised", optimizer=ADAMW, ema=EMA),
        independent("RMSprop, each member's values and norm clipped, averaged", "normalized", optimizer={**RMSPROP, "clipValue": 0.1, "clipNorm": 0.15}, ema=EMA),
        independent("LAMB by group, clipped, averaged", optimizer={**LAMB, **GROUPS, "clipNorm": 0.3}, ema=EMA),
        independent("Lion", optimizer=LION),
        independent("smoothed labels and a temperature", **SOFT),
    ],
    "joint": [
        joint("momentum, uneven last batch, averaged", "reduce", optimizer={**SGD, "learningRate": 0.2}, ema=EMA),
        joint("batch normalisation, RMSprop by group, clipped", "reduce", "normalized", optimizer={**RMSPROP, **GROUPS, "clipNorm": 0.1}),
        joint("one step stale", "pipelined", optimizer={**SGD, "learningRate": 0.1}),
        joint("one step stale, one-cycle, Adam, averaged", "pipelined", schedule=ONE_CYCLE, members=4, ema=EMA),
        joint("smoothed labels and a temperature, momentum", "reduce", optimizer=SGD, **SOFT),
        joint("one step stale, smoothed labels and a temperature", "pipelined", **SOFT),
        joint("regularizers and constraints, momentum", "reduce", "penalised", optimizer=SGD),
        joint("one step stale, regularizers and constraints", "pipelined", "penalised"),
    ],
    "coupled": [
        coupled("uneven last batch, LAMB, clipped", batchSize=9, optimizer={**LAMB, "clipNorm": 0.5}),
        coupled("batch normalisation, momentum, averaged", "normalized", optimizer=SGD, ema=EMA),
        coupled("smoothed labels and a temperature", **SOFT),
        coupled("regularizers and constraints, momentum", "penalised", optimizer=SGD),
    ],
    "data-parallel": [
        data_parallel("uneven last batches, Adam"),
        data_parallel("whole batches, momentum", samples=48, batchSize=4, optimizer=SGD),
        data_parallel("uneven and empty batches, Adam, averaged", ema=EMA, **EMPTY),
        data_parallel("8 ranks, batches of 1, decoupled decay", members=8, batchSize=1, optimizer=ADAMW),
        data_parallel("clipped, Nesterov momentum", optimizer={**NESTEROV, "clipNorm": 0.2}),
        data_parallel("LAMB by group, clipped, empty batches, averaged", optimizer={**LAMB, **GROUPS, "clipNorm": 0.3, "clipValue": 0.1}, ema=EMA, **EMPTY),
        data_parallel("Lion, empty batches", optimizer=LION, **EMPTY),
        data_parallel("accumulated, decoupled decay", accumulate=2, batchSize=4, optimizer=ADAMW),
        data_parallel("as bfloat16, momentum", compression="bfloat16", optimizer=SGD),
        data_parallel(
            "accumulated, clipped, as bfloat16, empty batches, cosine",
            accumulate=2,
            compression="bfloat16",
            schedule=COSINE,
            optimizer={**ADAM, "clipNorm": 0.3},
            **{**EMPTY, "batchSize": 2},
        ),
        data_parallel("batch normalisation, each rank's statistics, averaged", "normalized", optimizer=SGD, ema=EMA),
        data_parallel("batch normalisation, empty batches", "normalized", **EMPTY),
        data_parallel("batch normalisation, accumulated", "normalized", accumulate=2, batchSize=4, samples=50),
        data_parallel("weights unreached for 30 steps, whole batches", "heads", samples=40, batchSize=5, members=2, **HELD),
        data_parallel("weights unreached for 30 steps, empty batches", "heads", **EMPTY, **HELD),
        data_parallel("weights unreached for 30 steps, momentum and decay, clipped", "heads", optimizer={**NESTEROV, "clipNorm": 1}, **EMPTY, **HELD),
        data_parallel("weights that only whole batches reach", "heads", **EMPTY, **HELD_IN_PART),
        data_parallel("weights that only whole batches reach, accumulated", "heads", accumulate=2, **{**EMPTY, "batchSize": 2}, **HELD_IN_PART),
        data_parallel("regularizers and constraints, momentum", "penalised", samples=48, batchSize=4, optimizer=SGD),
        data_parallel("regularizers and constraints, clipped, empty batches", "penalised", optimizer={**ADAM, "clipNorm": 0.4}, **EMPTY),
    ],
    "hdet": [
        hdet("one-cycle, rates adapt, averaged", optimizer=SGD, schedule=ONE_CYCLE, ema=EMA),
        hdet("rates spread, nothing adapts, Adam", options={"adapt": False}),
        hdet("ranks train alone between syncs, empty batches, averaged", options={"gradientSync": False}, schedule=ONE_CYCLE, ema=EMA, **EMPTY),
        hdet(
            "rate and decay by group and label smoothing, given decay, clipped",
            optimizer={**ADAMW, "clipNorm": 0.5},
            loss={"labelSmoothing": 0.1},
            options={
                "diverge": ["learningRate", "weightDecay", "labelSmoothing"],
                "groups": [{"name": "head", "weights": "out"}],
                "decay": 0.05,
                "averageEverySteps": 10,
            },
        ),
        hdet("batch normalisation, accumulated", "normalized", options={"accumulate": 2}, batchSize=4, optimizer=SGD),
        hdet("LAMB, regularizers and constraints", "penalised", optimizer=LAMB),
        hdet("weights that only whole batches reach", "heads", **EMPTY, **HELD_IN_PART),
        hdet("weights unreached for 30 steps, empty batches", "heads", schedule=ONE_CYCLE, **EMPTY, **HELD),
    ],
}
