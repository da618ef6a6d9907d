# as the no_trainer examples of transformers: accelerate and one bar of all steps
import torch
from accelerate import Accelerator
from tqdm.auto import tqdm
torch.manual_seed(1); torch.set_num_threads(1)
accelerator = Accelerator(cpu=True)
net = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(40)], torch.nn.Linear(256, 2))
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(640, 256), torch.arange(640) % 2), batch_size=16)
net, opt, data = accelerator.prepare(net, torch.optim.SGD(net.parameters(), 0.01), data)
print("***** Running training *****"); print("  Num Epochs = 12"); print("  Total optimization steps = 480")
bar = tqdm(range(480))
for epoch in range(12):
    for x, y in data:
        loss = torch.nn.functional.cross_entropy(net(x), y)
        accelerator.backward(loss); opt.step(); opt.zero_grad(); bar.update(1)
    print(f"epoch {epoch}: {{'accuracy': {0.5 + epoch / 100}}}")
