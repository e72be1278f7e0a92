"""Records Morgan fingerprints of molecules: python3 make_fingerprints.py"""

import json
from pathlib import Path

from rdkit import Chem, rdBase
from rdkit.Chem import rdFingerprintGenerator

rdBase.DisableLog("rdApp.*")
molecules = """
CCO
CC(=O)Oc1ccccc1C(=O)O
Cn1cnc2c1c(=O)n(C)c(=O)n2C
CC(C)Cc1ccc(cc1)[C@@H](C)C(=O)O
C1CCCCC1
c1ccc2ccccc2c1
N[C@@H](CS)C(=O)O
O=C1CC(=O)NC(=O)N1
CN1CCC[C@H]1c1cccnc1
C[N+](C)(C)CCO
[Na+].[Cl-]
OC[C@H]1OC(O)[C@H](O)[C@@H](O)[C@@H]1O
FC(F)(F)c1ccccc1
CC(=O)Nc1ccc(O)cc1
Clc1ccc(cc1)C(c1ccc(Cl)cc1)C(Cl)(Cl)Cl
CCN(CC)CCNC(=O)c1ccc(N)cc1
O=[N+]([O-])c1ccc(O)cc1
C#N
[2H]C([2H])([2H])O
CC1=C(C(=O)O)N2C(=O)[C@@H](N)[C@H]2SC1
c1ccsc1
B(O)(O)c1ccccc1
CS(=O)(=O)N
O=P(O)(O)OC
C/C=C/C
C/C=C\\C
[Fe+2].[c-]1cccc1.[c-]1cccc1
CCC1=[O+][Cu-3]2([O+]=C(CC)C1)[O+]=C(CC)CC(CC)=[O+]2
NCCc1c[nH]c2ccc(O)cc12
CC12CCC3C(CCC4=CC(=O)CCC34C)C1CCC2O
C(C
not a molecule
c1ccccc
C(C)(C)(C)(C)C
""".strip().split("\n") + [""]

recorded = []
for smiles in molecules:
    molecule = Chem.MolFromSmiles(smiles) if smiles else None
    own = {"smiles": smiles, "isValid": molecule is not None}
    if molecule is not None:
        for radius, bits in [(2, 1024), (3, 2048)]:
            generator = rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=bits)
            own[f"r{radius}"] = list(generator.GetFingerprint(molecule).GetOnBits())
    recorded.append(own)
Path(__file__).with_name("fingerprints.json").write_text(json.dumps(recorded) + "\n")
