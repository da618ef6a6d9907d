# as pytorch/examples mnist: train and test each epoch
import argparse, torch, torch.nn as nn, torch.nn.functional as F
ap = argparse.ArgumentParser(); ap.add_argument('--epochs', type=int, default=6); ap.add_argument('--n', type=int, default=6000); a = ap.parse_args()
torch.manual_seed(1); torch.set_num_threads(1)
x = torch.randn(a.n, 1, 28, 28); y = torch.randint(0, 10, (a.n,))
xt, yt = torch.randn(1000, 1, 28, 28), torch.randint(0, 10, (1000,))
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.c1 = nn.Conv2d(1, 16, 3, 1); s.c2 = nn.Conv2d(16, 32, 3, 2); s.f = nn.Linear(32*12*12, 10)
    def forward(s, x):
        return F.log_softmax(s.f(torch.flatten(F.relu(s.c2(F.relu(s.c1(x)))), 1)), 1)
m = Net(); opt = torch.optim.Adadelta(m.parameters(), 1.0)
for epoch in range(1, a.epochs + 1):
    m.train()
    for b in range(0, a.n, 64):
        opt.zero_grad(); loss = F.nll_loss(m(x[b:b+64]), y[b:b+64]); loss.backward(); opt.step()
        if (b // 64) % 10 == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(epoch, b, a.n, 100. * b / a.n, loss.item()))
    m.eval()
    with torch.no_grad():
        o = m(xt); l = F.nll_loss(o, yt).item(); c = (o.argmax(1) == yt).sum().item()
    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(l, c, 1000, 100. * c / 1000))
