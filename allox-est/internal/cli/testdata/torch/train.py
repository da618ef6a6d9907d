"""A small convolutional network on images drawn at random. As many programs do,
it computes on the CPU without a word where no GPU can be used."""

import argparse

import time_writter

time_writter.Start()

import torch

parser = argparse.ArgumentParser()
parser.add_argument("epochs", type=int)
parser.add_argument("--cpu", action="store_true")
parser.add_argument("--numThreads", type=int, default=1)
parser.add_argument("--gpu", action="store_true")
parser.add_argument("--numGPUs", type=int, default=1)
args = parser.parse_args()

torch.manual_seed(1)
torch.set_num_threads(args.numThreads)
device = "cuda" if args.gpu and torch.cuda.is_available() else "cpu"
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16 * 12 * 12, 10)
).to(device)
images, labels = torch.randn(512, 1, 28, 28), torch.randint(10, (512,))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(args.epochs):
    time_writter.LogUpdate()
    for i in range(0, len(images), 32):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images[i : i + 32].to(device)), labels[i : i + 32].to(device))
        loss.backward()
        optimizer.step()
    loss.item()
time_writter.LogUpdate()
time_writter.LogUpdate()
time_writter.PrintResults()
