# as the getting started guide of PyTorch Ignite: an engine with its bar
import torch
from ignite.engine import create_supervised_trainer, create_supervised_evaluator, Events
from ignite.contrib.handlers import ProgressBar
from ignite.metrics import Loss
torch.manual_seed(1); torch.set_num_threads(1)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)], torch.nn.Linear(256, 2))
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(1280, 256), torch.arange(1280) % 2), batch_size=16)
loss = torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(net, torch.optim.SGD(net.parameters(), 0.01), loss)
judge = create_supervised_evaluator(net, {"loss": Loss(loss)})
ProgressBar(persist=True).attach(trainer, output_transform=lambda loss: {"loss": loss})
@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    judge.run(data); print(f"Validation Results - Epoch: {engine.state.epoch}  Avg loss: {judge.state.metrics['loss']:.2f}")
trainer.run(data, max_epochs=5)
