import argparse, xgboost as xgb, numpy as np
ap = argparse.ArgumentParser(); ap.add_argument('--rounds', type=int, default=60); ap.add_argument('--every', type=int, default=1); ap.add_argument('--n', type=int, default=20000); ap.add_argument('--stop', type=int, default=0); a = ap.parse_args()
r = np.random.default_rng(1); X = r.standard_normal((a.n, 30)); y = X[:, 0] * X[:, 1] + r.standard_normal(a.n)
d, v = xgb.DMatrix(X[:-2000], y[:-2000]), xgb.DMatrix(X[-2000:], y[-2000:])
xgb.train({'nthread': 1, 'max_depth': 7}, d, a.rounds, evals=[(d, 'train'), (v, 'eval')], verbose_eval=a.every, early_stopping_rounds=a.stop or None)
