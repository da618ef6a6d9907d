import sys, tempfile
import torch
from transformers import Trainer, TrainingArguments
import time_writter_callbacks

class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, i):
        return {"x": torch.randn(4), "labels": torch.tensor(i % 2)}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def forward(self, x, labels):
        out = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(out, labels), "logits": out}

with tempfile.TemporaryDirectory() as folder:
    options = TrainingArguments(folder, num_train_epochs=4, per_device_train_batch_size=8, evaluation_strategy="epoch",
                                save_strategy="epoch", report_to=[], disable_tqdm=True, no_cuda=True)
    Trainer(Net(), options, train_dataset=Data(), eval_dataset=Data(),
            callbacks=[time_writter_callbacks.hugging_face(unit=sys.argv[1])]).train()
