"""Run by mpirun: every rank fits its own rows with coforest.mpi; rank 0 compares with the fit of the whole table."""
import sys

import numpy as np
import pandas as pd
from mpi4py import MPI

import coforest
from coforest.mpi import COForest

comm = MPI.COMM_WORLD
rng = np.random.default_rng(1)
group = rng.integers(0, 3, 500)
X = pd.DataFrame({f"c{j}": np.where(rng.random(500) < 0.6, (group + j) % 4, rng.integers(0, 4, 500)) for j in range(5)})
X["x"] = rng.normal(3.0 * group, 1)
bounds = {1: [0, 500], 2: [0, 120, 500], 4: [0, 200, 200, 201, 500]}[comm.size]
own = X.iloc[bounds[comm.rank]:bounds[comm.rank + 1]]
if "fail" in sys.argv:
    own = own.rename(columns={"c0": "other"}) if comm.rank == 1 else own
    try:
        COForest(3, n_init=2, random_state=1).fit(own)
    except (ValueError, RuntimeError) as error:
        print(f"rank {comm.rank} {error}", flush=True)
    sys.exit()
model = COForest(3, n_init=2, random_state=1).fit(own if len(own) > 0 else None)
labels = comm.gather(model.labels_)
same = comm.gather(model.predict(X.iloc[:50]))
if comm.rank == 0:
    whole = coforest.COForest(3, n_init=2, random_state=1).fit(X)
    assert (np.concatenate(labels) == whole.labels_).all() and model.objective_ == whole.objective_
    assert all((found == whole.predict(X.iloc[:50])).all() for found in same)
    print("equal")
