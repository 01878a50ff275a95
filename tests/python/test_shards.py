"""Fits over shards by the extension module: the labels of the same fit on one table, and errors that reach the caller."""
import numpy as np
import pandas as pd
import pytest

import coforest
from coforest import _core, _shards


def planted(n=600, seed=1):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    columns = {f"c{j}": np.where(rng.random(n) < 0.6, (group * 7 + j) % 5, rng.integers(0, 5, n)).astype(str).astype(object)
               for j in range(5)}
    columns["c1"][rng.random(n) < 0.05] = None
    columns["x"] = rng.normal(2.0 * group, 1)
    return pd.DataFrame(columns)


class Sharded(_shards.ShardedFit, coforest.COForest):
    """The engine is a loop over the parts."""

    def fit(self, X, bounds, ask=None):
        parts = [_shards.Part(X.iloc[first:end]) for first, end in zip(bounds[:-1], bounds[1:])]

        def answer(schema, request):
            return [part.answer(first, schema, request) for part, first in zip(parts, bounds)]

        schema, request = self._fit_parts([part.describe(first) for part, first in zip(parts, bounds) if len(part) > 0],
                                          ask or answer)
        self.labels_ = np.concatenate([part.labels(first, schema, request) for part, first in zip(parts, bounds)])
        return self


@pytest.mark.parametrize("bounds", [[0, 600], [0, 100, 350, 600], [0, 0, 599, 600, 600]])
@pytest.mark.parametrize("missing", ["value", "ignore"])
def test_labels_are_those_of_one_table(bounds, missing):
    X = planted()
    whole = coforest.COForest(3, n_init=3, random_state=1, missing=missing).fit(X)
    parts = Sharded(3, n_init=3, random_state=1, missing=missing).fit(X, bounds)
    assert (parts.labels_ == whole.labels_).all()
    assert parts.objective_ == whole.objective_ and parts.log_likelihood_ == whole.log_likelihood_
    assert (parts.predict(X) == whole.predict(X)).all()
    assert list(parts.cuts_) == ["x"]


def test_restarts_ask_together(monkeypatch):
    X = planted()
    asked = []

    def fit(limit=None):
        asked.clear()
        parts = {first: _shards.Part(X.iloc[first:first + 300]) for first in (0, 300)}

        def ask(schema, request):
            if len(asked) == limit:
                raise KeyboardInterrupt
            asked.append(request)
            return [part.answer(first, schema, request) for first, part in parts.items()]

        model = Sharded(3, n_init=6, random_state=1)
        model._fit_parts([part.describe(first) for first, part in parts.items()], ask)
        return len(asked), model.objective_, model.log_likelihood_

    n, *together = fit()
    for limit in range(0, n, 5):
        with pytest.raises(KeyboardInterrupt):
            fit(limit)
        assert len(asked) == limit  # nothing is asked after that
    monkeypatch.setattr(_shards, "_SHARD_LABELS", 0)
    n_alone, *alone = fit()
    assert 2 * n < n_alone and together == alone


def test_an_exception_of_the_engine_ends_the_fit():
    def ask(schema, request):
        raise ConnectionError("the workers are gone")

    with pytest.raises(ConnectionError, match="the workers are gone"):
        Sharded(3, n_init=2, random_state=1).fit(planted(), [0, 300, 600], ask)


def test_answers_that_are_short_of_a_shard_are_noticed():
    with pytest.raises(coforest.CoforestError):
        Sharded(3, n_init=2, random_state=1).fit(planted(), [0, 300, 600], lambda schema, request: [])


def test_damaged_bytes_are_refused():
    table = _shards.columns_of(planted()).table()
    schema = _core.schema_of(table, 0)
    damaged = bytearray(schema.to_bytes())
    damaged[40] ^= 1
    with pytest.raises(coforest.CoforestError):
        _core.schema_read(bytes(damaged))
    shard = _core.shard_open(table, schema, 0, 1)
    assert _core.request_words(b"no request") == 0
    with pytest.raises(coforest.CoforestError):
        shard.answer(b"no request", np.zeros(4, np.uint64))
    with pytest.raises(TypeError):
        _core.fit(table, 3, ask=print)
