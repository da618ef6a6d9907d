# as the quick start of skorch: fit prints a table, a row an epoch
import numpy, torch
from skorch import NeuralNetClassifier
torch.manual_seed(1); torch.set_num_threads(1)
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(10)], torch.nn.Linear(128, 2), torch.nn.Softmax(-1))
    def forward(self, x): return self.net(x)
rng = numpy.random.default_rng(1)
NeuralNetClassifier(Net, max_epochs=40, lr=0.01, batch_size=16).fit(rng.standard_normal((800, 128)).astype(numpy.float32), rng.integers(0, 2, 800))
