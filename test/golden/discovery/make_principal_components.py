"""Principal components by scikit-learn, for test/unit/discovery/pool-map.test.ts. Run: python make_principal_components.py"""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.decomposition import PCA

generator = np.random.default_rng(5)
cases = {}
for name, (rows, columns) in {"tall": (30, 6), "wide": (7, 12)}.items():
    values = np.round(generator.normal(size=(rows, 4)) @ generator.normal(size=(4, columns)) + generator.normal(size=(rows, columns)) * 0.3, 3)
    pca = PCA(n_components=3, svd_solver="full").fit(values)
    cases[name] = {
        "width": columns,
        "values": values.ravel().tolist(),
        "mean": pca.mean_.tolist(),
        "directions": pca.components_.ravel().tolist(),
        "variances": pca.explained_variance_.tolist(),
        "shares": pca.explained_variance_ratio_.tolist(),
        "places": pca.transform(values).ravel().tolist(),
    }
path = Path(__file__).with_name("principal-components.json")
path.write_text(json.dumps({"sklearn": sklearn.__version__, **cases}) + "\n")
