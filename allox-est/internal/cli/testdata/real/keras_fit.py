import argparse, os; os.environ['KERAS_BACKEND'] = 'jax'
ap = argparse.ArgumentParser(); ap.add_argument('--epochs', type=int, default=6); ap.add_argument('--n', type=int, default=6000); ap.add_argument('--verbose', type=int, default=1); a = ap.parse_args()
import keras, numpy as np
r = np.random.default_rng(1); x = r.standard_normal((a.n, 28, 28, 1)).astype('float32'); y = r.integers(0, 10, a.n)
m = keras.Sequential([keras.layers.Conv2D(16, 3, activation='relu'), keras.layers.MaxPooling2D(), keras.layers.Flatten(), keras.layers.Dense(64, activation='relu'), keras.layers.Dense(10, activation='softmax')])
m.compile('adam', 'sparse_categorical_crossentropy', metrics=['accuracy']); m.fit(x, y, batch_size=64, epochs=a.epochs, validation_split=.1, verbose=a.verbose)
