# as the user guide of scikit-learn: a multi-layer perceptron with verbose output
import numpy, warnings
from sklearn.neural_network import MLPClassifier
warnings.simplefilter("ignore")
rng = numpy.random.default_rng(1)
x = rng.standard_normal((3000, 50)); y = rng.integers(0, 2, 3000)
MLPClassifier(hidden_layer_sizes=(100,), max_iter=150, verbose=True, random_state=1, n_iter_no_change=1000).fit(x, y)
