"""Boosted trees, with XGBoost."""
import os

from rows import ROUNDS, metric, run, show, version, wheel


def xgboost():
    """Training and prediction with the XGBoost of PyPI."""
    pypi = wheel("xgboost==3.2.0")
    if not os.path.exists(pypi):
        raise RuntimeError(f"{pypi}: not installed")
    environment = {"PYTHONPATH": pypi}
    rival = "XGBoost " + version("xgboost", **environment)
    line = ["go", "test", "-run", "^$", "-bench", "CompareXGBoost/^rows=100000$/^threads=1$", "-benchtime", "1x", "-count", str(ROUNDS), "./shared/regression/tree"]
    out = run(*line, PYTHON="/usr/bin/python3", **environment)
    for unit, what, shown in [
        ("train-s", "training boosted trees, 100,000 rows, 20 features, 100 trees", "s"),
        ("rmse", "their error on held-out rows", ""),
    ]:
        show("shared", what, shown, rival, zip(metric(out, unit), metric(out, "xgboost-" + unit)), " ".join(line))
