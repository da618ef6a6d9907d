import sys
from unittest import mock
import torch
for name in ("_shard", "_shard.sharded_tensor", "fsdp", "fsdp.wrap", "fsdp.fully_sharded_data_parallel", "fsdp.sharded_grad_scaler"):
    sys.modules["torch.distributed." + name] = mock.MagicMock()  # Debian's torch 1.13 has dataclasses there that its Python 3.11 refuses
import pytorch_lightning
import time_writter_callbacks

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, i):
        return torch.randn(4), torch.tensor(i % 2)

class Net(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def training_step(self, batch, i):
        return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
    def validation_step(self, batch, i):
        self.training_step(batch, i)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

load = lambda: torch.utils.data.DataLoader(Data(), batch_size=8)
pytorch_lightning.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                          callbacks=[time_writter_callbacks.lightning(unit=sys.argv[1])]).fit(Net(), load(), load())
