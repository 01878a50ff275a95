"""COForest for MPI: every rank has rows of its own, and the labels are those of the same fit on one machine.

    from coforest.mpi import COForest
    model = COForest(n_clusters=5, random_state=1).fit(rows_of_this_rank)   # on all ranks
    model.labels_                 # of the rows of this rank

Needs ``pip install coforest[mpi]`` and an MPI library; run with ``mpirun -n 4 python program.py``. For an encoded table on
a disk that all ranks see, the program ``coforest-mpi`` needs no Python.
"""
from mpi4py import MPI

from . import _estimators, _shards

__all__ = ["COForest"]


def _attempt(function, *arguments):
    """What the function gives, or its exception, which rank 0 raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def _checked(results):
    for rank, result in enumerate(results):
        if isinstance(result, Exception):
            raise type(result)(f"rank {rank}: {result}")
    return results


class COForest(_shards.ShardedFit, _estimators.COForest):
    """coforest.COForest over the ranks of an MPI communicator, with the same parameters, which all ranks give alike.

    Rank 0 drives, and tells the progress. After ``fit`` every rank has the model; ``labels_`` are those of its own rows.
    What needs whole rows on one machine is refused: quantities as ``"scaled"`` and ``sample_weight``.
    """

    def fit(self, X, y=None, sample_weight=None, comm=None):
        """Clusters the rows of all ranks, in the order of the ranks; X are those of this rank, None for none. All ranks call
        it. comm: MPI.COMM_WORLD unless another communicator is given."""
        if sample_weight is not None:
            raise ValueError("sample_weight is not supported over MPI; repeat rows instead")
        comm = MPI.COMM_WORLD if comm is None else comm
        part = _attempt(_shards.Part, () if X is None else X)
        broken = isinstance(part, Exception)
        first = comm.exscan(0 if broken else len(part)) or 0
        descriptions = comm.gather(part if broken else _attempt(part.describe, first) if len(part) > 0 else None)
        if comm.rank > 0:
            return self._serve(comm, part, first)
        known = set()

        def ask(schema, request):
            comm.bcast((None if schema in known else schema, request))  # the schema goes to the ranks once
            known.add(schema)
            return _checked(comm.gather(_attempt(part.answer, first, schema, request)))

        try:
            schema, request = self._fit_parts([d for d in _checked(descriptions) if d is not None], ask)
        except BaseException as error:
            comm.bcast((None, f"the fit on rank 0 failed: {error}"))
            raise
        comm.bcast((None, (request, self._local())))
        self.labels_ = part.labels(first, schema, request)
        return self

    def _serve(self, comm, part, first):
        """Answers rank 0 until it is done: with bytes it asks, a pair is the result, a text a failure."""
        schema = None
        while True:
            new, message = comm.bcast(None)
            schema = new if new is not None else schema
            if not isinstance(message, bytes):
                break
            comm.gather(_attempt(part.answer, first, schema, message))
        if isinstance(message, str):
            raise RuntimeError(message)
        request, fitted = message
        callback = self.callback
        self.__dict__.update(fitted.__dict__, callback=callback)
        self.labels_ = part.labels(first, schema, request)
        return self
