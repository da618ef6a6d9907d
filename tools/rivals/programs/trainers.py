"""Programs that train, each as the documents of its package show, on synthetic data.

    trainers.py NAME

They take 15 to 40 s on a core of 2026, and few of them keep one pace: there are warm-ups,
evaluations, checkpoints, sequences that grow, and rounds that become slower."""
import os
import sys
import tempfile
import time


def dense(width=256, depth=20, classes=10):
    import torch
    layers = [torch.nn.Linear(width, width) for _ in range(depth)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, classes))


def images(count, batch=32, width=256):
    import torch
    data = torch.utils.data.TensorDataset(torch.randn(count, width), torch.arange(count) % 10)
    return torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True)


def step(net, optimizer, x, y):
    import torch
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def evaluate(net, loader):
    import torch
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def table(rows, columns=20, classes=2):
    from sklearn.datasets import make_classification
    return make_classification(rows, columns, n_informative=columns // 2, n_classes=classes, random_state=1)


def torch_tqdm():
    """A bar for each epoch, and an evaluation without one."""
    import torch
    from tqdm import tqdm
    train, valid, net = images(9600), images(19200), dense()
    optimizer = torch.optim.Adam(net.parameters(), 1e-4)
    for epoch in range(9):
        for x, y in tqdm(train, desc=f"Epoch {epoch + 1}/9"):
            step(net, optimizer, x, y)
        tqdm.write(f"accuracy {evaluate(net, valid):.3f}")


def torch_outer():
    """One bar over all epochs, and a slow checkpoint after every eighth."""
    import torch
    from tqdm import trange
    train, net = images(8000), dense()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    with tempfile.TemporaryDirectory() as folder:
        bar = trange(32, desc="training")
        for epoch in bar:
            for x, y in train:
                loss = step(net, optimizer, x, y)
            bar.set_postfix(loss=f"{loss:.3f}")
            if epoch % 8 == 7:
                for part in range(12):
                    torch.save(net.state_dict(), f"{folder}/{part}.pt")


def torch_prints():
    """A line for each epoch; the first two also prepare the data."""
    import torch
    train, net = images(12800), dense()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    print(f"model with {sum(p.numel() for p in net.parameters())} parameters")
    for epoch in range(1, 16):
        begin = time.time()
        if epoch <= 2:
            for _ in range(300):
                torch.fft.fft2(torch.randn(512, 512))
        for x, y in train:
            loss = step(net, optimizer, x, y)
        print(f"Epoch [{epoch}/15], Loss: {loss:.4f}, Time: {time.time() - begin:.2f}s")


def torch_gpt():
    """Iterations without a total, with an evaluation and a checkpoint every 200."""
    import torch
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    net = torch.nn.Sequential(torch.nn.Embedding(65, 64), torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(64, 65))
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    print("number of parameters: %.2fM" % (sum(p.numel() for p in net.parameters()) / 1e6))
    for i in range(1801):
        if i % 200 == 0:
            with torch.no_grad():
                losses = [torch.nn.functional.cross_entropy(net(x).flatten(0, 1), x.flatten()).item() for x in torch.randint(65, (60, 8, 64))]
            print(f"step {i}: train loss {sum(losses) / 60:.4f}, val loss {sum(losses[30:]) / 30:.4f}")
        begin, x = time.time(), torch.randint(65, (8, 64))
        loss = torch.nn.functional.cross_entropy(net(x).flatten(0, 1), x.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(f"iter {i}: loss {loss.item():.4f}, time {1000 * (time.time() - begin):.2f}ms")


def torch_growing():
    """Sequences that become longer: 32, 48, 64 and 96 tokens."""
    import torch
    net, head = torch.nn.LSTM(64, 96, batch_first=True), torch.nn.Linear(96, 64)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()])
    print("building the data set")
    for i in range(1, 2401):
        length = (32, 48, 64, 96)[(i - 1) // 600]
        x = torch.randn(16, length, 64)
        loss = (head(net(x)[0]) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 20 == 0:
            print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} INFO step {i}/2400 seq_len={length} loss={loss.item():.4f}")


def lightning(train, valid=None, bar=None, **options):
    from unittest import mock
    import torch
    for name in "_shard", "_shard.sharded_tensor", "fsdp", "fsdp.wrap", "fsdp.fully_sharded_data_parallel", "fsdp.sharded_grad_scaler":
        sys.modules["torch.distributed." + name] = mock.MagicMock()  # Debian's torch 1.13 has dataclasses there that its Python 3.11 refuses
    import pytorch_lightning as pl

    class Net(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = dense()

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def validation_step(self, batch, _):
            self.log("val_loss", torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    callbacks = [pl.callbacks.RichProgressBar()] if bar == "rich" else []
    pl.Trainer(accelerator="cpu", logger=False, enable_checkpointing=False, callbacks=callbacks, **options).fit(Net(), train, valid)


def lightning_bar():
    """A validation after each epoch."""
    lightning(images(9600), images(9600), max_epochs=9)


def lightning_sparse():
    """A validation after every second epoch only."""
    lightning(images(9600), images(19200), max_epochs=8, check_val_every_n_epoch=2)


def lightning_rich():
    """The other bar, with a validation after each epoch."""
    lightning(images(8000), images(9600), bar="rich", max_epochs=10)


def lightning_bags():
    """Batches of very different sizes, the large ones first in each epoch."""
    import torch
    bags = [(torch.randn(n, 256), torch.arange(n) % 10) for n in [96] * 30 + [64] * 30 + [16] * 60]
    lightning(torch.utils.data.DataLoader(bags, batch_size=None), max_epochs=24)


def transformers():
    """The Trainer, with an evaluation after each epoch."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    config = BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128, vocab_size=500)
    def data(n):
        return [{"input_ids": torch.randint(500, (64,)), "labels": i % 2} for i in range(n)]
    with tempfile.TemporaryDirectory() as folder:
        options = TrainingArguments(folder, num_train_epochs=6, per_device_train_batch_size=16, evaluation_strategy="epoch", save_strategy="epoch", report_to=[], no_cuda=True)
        Trainer(BertForSequenceClassification(config), options, train_dataset=data(1600), eval_dataset=data(1600)).train()


def keras():
    """fit, with a validation after each epoch and a compilation before the first."""
    os.environ["KERAS_BACKEND"] = "jax"
    import keras
    import numpy
    x, y = numpy.random.rand(3200, 24, 24, 1).astype("float32"), numpy.arange(3200) % 10
    net = keras.Sequential([keras.Input((24, 24, 1))] + [keras.layers.Conv2D(8, 3, activation="relu") for _ in range(3)] + [keras.layers.Flatten(), keras.layers.Dense(10)])
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(x, y, epochs=20, validation_data=(x[:1600], y[:1600]))


def xgboost():
    """DART: each round drops trees of those before, and becomes slower."""
    import xgboost
    x, y = table(3000)
    data = xgboost.DMatrix(x, y)
    print("training with DART")
    xgboost.train({"booster": "dart", "rate_drop": 0.1, "nthread": 1, "objective": "binary:logistic"}, data, 360, evals=[(data, "train")])


def lightgbm():
    """Rounds with a line for every fifth."""
    import lightgbm
    x, y = table(60000, 40)
    data = lightgbm.Dataset(x, y)
    lightgbm.train({"num_threads": 1, "objective": "binary", "num_leaves": 63}, data, 700, valid_sets=[data], callbacks=[lightgbm.log_evaluation(10)])


def catboost():
    """Rounds, with the remaining time that the package prints itself."""
    from catboost import CatBoostClassifier
    x, y = table(30000, 40)
    with tempfile.TemporaryDirectory() as folder:
        CatBoostClassifier(iterations=600, depth=8, thread_count=1, metric_period=5, train_dir=folder).fit(x, y)


def sklearn_boosting():
    """Rounds, with the remaining time that the package prints itself."""
    from sklearn.ensemble import GradientBoostingClassifier
    GradientBoostingClassifier(n_estimators=250, verbose=2).fit(*table(9000, 20))


def sklearn_search():
    """A search from small networks to large ones."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.neural_network import MLPClassifier
    widths = [(n,) for n in (16, 32, 48, 64, 96, 128, 160, 192)]
    GridSearchCV(MLPClassifier(max_iter=60), {"hidden_layer_sizes": widths, "alpha": [1e-4, 1e-2]}, cv=4, verbose=10).fit(*table(6000))


def fastai():
    """One cycle, with a table row for each epoch."""
    from fastai.basics import CrossEntropyLossFlat, DataLoaders, Learner, accuracy
    from fastai.callback.schedule import Learner as _  # adds fit_one_cycle
    data = DataLoaders(images(6400), images(12800, 64))
    Learner(data, dense(), loss_func=CrossEntropyLossFlat(), metrics=accuracy).fit_one_cycle(7, 1e-3)


def timm():
    """The lines of timm's own script: epochs with updates, and a validation of each."""
    import timm
    import torch
    net = timm.create_model("resnet10t", num_classes=10)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    print("Model resnet10t created, param count:", sum(p.numel() for p in net.parameters()))
    for epoch in range(8):
        for i in range(40):
            loss = step(net, optimizer, torch.randn(8, 3, 64, 64), torch.arange(8))
            if i % 4 == 0 or i == 39:
                print(f"Train: {epoch} [{i:>4d}/40 ({100 * i / 39:>3.0f}%)]  Loss: {loss:#.3g}  LR: 0.010")
        with torch.no_grad():
            for i in range(30):
                net(torch.randn(8, 3, 64, 64))
                if i % 10 == 0:
                    print(f"Test: [{i:>4d}/29]  Acc@1: 10.0")


def tabnet():
    """A line for each epoch."""
    import warnings
    warnings.simplefilter("ignore")
    print("training on cpu")
    from pytorch_tabnet.tab_model import TabNetClassifier
    x, y = table(6000)
    TabNetClassifier().fit(x[:4800], y[:4800], eval_set=[(x[4800:], y[4800:])], max_epochs=110, patience=110, batch_size=256, virtual_batch_size=128)


def stable_baselines():
    """PPO, with a table for each rollout."""
    import gymnasium
    import numpy
    from stable_baselines3 import PPO

    class Walk(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Box(-1, 1, (8,)), gymnasium.spaces.Discrete(4)

        def reset(self, seed=None, options=None):
            self.left = 50
            return numpy.zeros(8, "float32"), {}

        def step(self, action):
            self.left -= 1
            return numpy.random.rand(8).astype("float32"), float(action == 1), self.left == 0, False, {}

    PPO("MlpPolicy", Walk(), n_steps=512, verbose=1, device="cpu").learn(40960)


if __name__ == "__main__":
    name = sys.argv[1]
    globals()[name]()
