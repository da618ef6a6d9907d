# as the quick tour of transformers: a Trainer with its bar and its evaluations
import tempfile, torch
from transformers import Trainer, TrainingArguments
torch.manual_seed(1); torch.set_num_threads(1)
class Data(torch.utils.data.Dataset):
    def __len__(self): return 640
    def __getitem__(self, i): return {"x": torch.randn(256), "labels": torch.tensor(i % 2)}
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)], torch.nn.Linear(256, 2))
    def forward(self, x, labels):
        out = self.net(x); return {"loss": torch.nn.functional.cross_entropy(out, labels), "logits": out}
with tempfile.TemporaryDirectory() as folder:
    options = TrainingArguments(folder, num_train_epochs=8, per_device_train_batch_size=16, logging_steps=10, evaluation_strategy="epoch", save_strategy="no", report_to=[], no_cuda=True)
    Trainer(Net(), options, train_dataset=Data(), eval_dataset=Data()).train()
