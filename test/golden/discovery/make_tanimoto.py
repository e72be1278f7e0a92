"""Records Tanimoto distances of molecules' fingerprints, and the batch that MaxMin picks: python3 make_tanimoto.py"""

import json
from pathlib import Path

import numpy as np
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator
from rdkit.SimDivFilters.rdSimDivPickers import MaxMinPicker

folder = Path(__file__).parent
smiles = [own["smiles"] for own in json.loads((folder / "fingerprints.json").read_text()) if own["isValid"]]
generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
prints = [generator.GetFingerprint(Chem.MolFromSmiles(own)) for own in smiles]
similarity = np.array([DataStructs.BulkTanimotoSimilarity(own, prints) for own in prints])
picks = list(MaxMinPicker().LazyBitVectorPick(prints, len(prints), 12, firstPicks=[0]))


def centres(distance, count):
    """The definition, which takes the first of equal distances; MaxMinPicker may take another."""
    chosen, nearest = [0], distance[0].copy()
    while len(chosen) < count:
        nearest[chosen] = -1
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distance[chosen[-1]])
    return chosen


distance = 1 - similarity
# Vectors of numbers, which RDKit has no similarity of: the coefficient of Willett, Barnard and Downs (1998), table 3.
rng = np.random.default_rng(4)
numbers = rng.uniform(0, 2, (6, 5))
dot = numbers @ numbers.T
square = np.diag(dot)
recorded = {
    "smiles": smiles,
    "similarity": similarity.ravel().tolist(),
    "centres": centres(distance, 12),
    "nearestOfPicks": float(min(distance[i, j] for i in picks for j in picks if i != j)),
    "numbers": {
        "width": 5,
        "values": np.float32(numbers).ravel().astype(float).tolist(),
        "similarity": (dot / (square[:, None] + square[None, :] - dot)).ravel().tolist(),
    },
}
print("MaxMinPicker", picks, "definition", recorded["centres"])
Path(folder / "tanimoto.json").write_text(json.dumps(recorded) + "\n")
