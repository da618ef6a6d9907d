"""Boosted trees, with XGBoost."""
import os

from rows import ROUNDS, metric, run, show, version, wheel


def xgboost():
    """Training and prediction with the XGBoost of Debian and that of PyPI."""
    environments, pypi = [{}], wheel("xgboost==3.2.0")
    if os.path.exists(pypi):
        environments.append({"PYTHONPATH": pypi})
    line = ["go", "test", "-run", "^$", "-bench", "CompareXGBoost/^rows=100000$/^threads=1$", "-benchtime", "1x", "-count", str(ROUNDS), "./shared/regression/tree"]
    for env in environments:
        rival = "XGBoost " + version("xgboost", **env)
        out = run(*line, PYTHON="/usr/bin/python3", **env)
        for unit, what, shown in [
            ("train-s", "training boosted trees, 100,000 rows, 20 features, 100 trees", "s"),
            ("predict-s", "predicting them, on one thread", "s"),
            ("rmse", "their error on held-out rows", ""),
            ("MB", "memory of both", "MB"),
        ]:
            show("shared", what, shown, rival, zip(metric(out, unit), metric(out, "xgboost-" + unit)), " ".join(line))
    if len(environments) == 1:
        raise RuntimeError(f"{pypi}: not installed")
