# as the user guide of scikit-learn: gradient boosting with verbose output
import numpy, sys
from sklearn.ensemble import GradientBoostingRegressor
rng = numpy.random.default_rng(1)
x = rng.standard_normal((5000, 20)); y = x[:, 0] + rng.standard_normal(5000)
GradientBoostingRegressor(n_estimators=100, verbose=2, random_state=1).fit(x, y)
