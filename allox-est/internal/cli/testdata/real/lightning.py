# as the introduction of PyTorch Lightning: fit with its bar and a validation loop
import sys, torch
from unittest import mock
for name in ("_shard", "_shard.sharded_tensor", "fsdp", "fsdp.wrap", "fsdp.fully_sharded_data_parallel", "fsdp.sharded_grad_scaler"):
    sys.modules["torch.distributed." + name] = mock.MagicMock()  # Debian's torch 1.13 has dataclasses there that its Python 3.11 refuses
import pytorch_lightning as pl
torch.manual_seed(1); torch.set_num_threads(1)
class Net(pl.LightningModule):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)], torch.nn.Linear(256, 2))
    def loss(self, batch): return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
    def training_step(self, batch, _): return self.loss(batch)
    def validation_step(self, batch, _): self.log("val_loss", self.loss(batch))
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.01)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(1280, 256), torch.arange(1280) % 2), batch_size=16)
pl.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False).fit(Net(), data, data)
