import os, sys
os.environ["KERAS_BACKEND"] = "jax"
import keras, numpy
import time_writter_callbacks

x, y = numpy.random.standard_normal((32, 4)), numpy.arange(32) % 2
model = keras.Sequential([keras.layers.Dense(2, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
model.fit(x, y, batch_size=8, epochs=4, validation_data=(x, y), verbose=0, callbacks=[time_writter_callbacks.keras(unit=sys.argv[1])])
