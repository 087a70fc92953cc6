"""Regressions without signs, as estimators of scikit-learn: y = abs(X w), and y = +- X w."""

try:
    from sklearn.utils.validation import validate_data as _new_in_1_6  # noqa: F401
except ImportError:
    raise ImportError("this needs scikit-learn 1.6 or later: pip install 'phaselect[sklearn]'") from None

from phaselect.sklearn.absolute import AbsoluteRegression
from phaselect.sklearn.symmetric_mixture import SymmetricMixtureRegression

__all__ = ["AbsoluteRegression", "SymmetricMixtureRegression"]
