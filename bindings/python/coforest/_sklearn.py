"""scikit-learn's base classes where it is installed, otherwise as much of them as people rely on."""
import inspect

try:
    from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning, NotFittedError
    from sklearn.utils.metaestimators import available_if

    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False

    def available_if(check):
        """A method that objects have only where check(object) holds."""

        class Method:
            def __init__(self, function):
                self.function = function

            def __get__(self, owner, kind=None):
                if owner is None:
                    return self.function
                if not check(owner):
                    raise AttributeError(f"this {kind.__name__} has no {self.function.__name__!r}")
                return self.function.__get__(owner, kind)

        return Method

    class NotFittedError(ValueError, AttributeError):
        """Raised when an estimator is asked before it was fitted."""

    class ConvergenceWarning(UserWarning):
        """Raised when a fit could not do all it was asked."""

    class BaseEstimator:
        @classmethod
        def _get_param_names(cls):
            parameters = inspect.signature(cls.__init__).parameters
            return sorted(name for name in parameters if name != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params):
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known!r}.")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self).__init__).parameters
            changed = [
                f"{name}={value!r}"
                for name, value in self.get_params().items()
                if not (value is defaults[name].default or value == defaults[name].default)
            ]
            return f"{type(self).__name__}({', '.join(changed)})"

    class ClusterMixin:
        _estimator_type = "clusterer"

        def fit_predict(self, X, y=None, **kwargs):
            return self.fit(X, **kwargs).labels_

    class TransformerMixin:
        def fit_transform(self, X, y=None, **fit_params):
            return self.fit(X, y, **fit_params).transform(X)
