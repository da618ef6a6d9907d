import argparse, lightgbm as lgb, numpy as np
ap = argparse.ArgumentParser(); ap.add_argument('--rounds', type=int, default=120); ap.add_argument('--period', type=int, default=10); ap.add_argument('--n', type=int, default=20000); ap.add_argument('--stop', type=int, default=0); a = ap.parse_args()
r = np.random.default_rng(1); X = r.standard_normal((a.n, 30)); y = X[:, 0] * X[:, 1] + r.standard_normal(a.n)
d = lgb.Dataset(X[:-2000], y[:-2000]); v = lgb.Dataset(X[-2000:], y[-2000:], reference=d)
cb = [lgb.log_evaluation(a.period)] + ([lgb.early_stopping(a.stop)] if a.stop else [])
lgb.train({'objective': 'regression', 'num_threads': 1, 'num_leaves': 63}, d, a.rounds, valid_sets=[v], callbacks=cb)
