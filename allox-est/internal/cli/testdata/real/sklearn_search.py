# as the user guide of scikit-learn: a grid search with verbose output
import numpy
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
rng = numpy.random.default_rng(1)
x = rng.standard_normal((1400, 20)); y = rng.integers(0, 2, 1400)
GridSearchCV(SVC(), {"C": [1, 2, 3, 4], "gamma": [0.1, 0.2, 0.3, 0.4]}, cv=4, verbose=10).fit(x, y)
