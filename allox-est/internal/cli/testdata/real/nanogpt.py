# a loop that prints as nanoGPT's train.py does: evaluation every eval_interval at 0, 20, ... and a line every log_interval
import argparse, time, math, torch, torch.nn as nn
ap = argparse.ArgumentParser(); ap.add_argument('--max_iters', type=int, default=100); ap.add_argument('--log_interval', type=int, default=1); ap.add_argument('--eval_interval', type=int, default=20); ap.add_argument('--d', type=int, default=64); a = ap.parse_args()
torch.set_num_threads(1); torch.manual_seed(1)
V, T, B, D = 65, 64, 8, a.d
class Block(nn.Module):
    def __init__(s):
        super().__init__(); s.l = nn.TransformerEncoderLayer(D, 4, 4*D, 0.0, batch_first=True)
    def forward(s, x): return s.l(x, src_mask=torch.full((T, T), -1e9).triu(1))
m = nn.Sequential(nn.Embedding(V, D), Block(), Block(), nn.Linear(D, V)); opt = torch.optim.AdamW(m.parameters(), 1e-3)
print(f'number of parameters: {sum(p.numel() for p in m.parameters())/1e6:.2f}M')
def batch():
    x = torch.randint(0, V, (B, T + 1)); return x[:, :-1], x[:, 1:]
def loss():
    x, y = batch(); return nn.functional.cross_entropy(m(x).reshape(-1, V), y.reshape(-1))
it = 0; t0 = time.time()
while True:
    if it % a.eval_interval == 0:
        m.eval()
        with torch.no_grad(): l = [sum(loss().item() for _ in range(20)) / 20 for _ in range(2)]
        m.train(); print(f"step {it}: train loss {l[0]:.4f}, val loss {l[1]:.4f}")
        if it > 0: print('saving checkpoint to out')
    opt.zero_grad(); l = loss(); l.backward(); opt.step()
    t1 = time.time(); dt = t1 - t0; t0 = t1
    if it % a.log_interval == 0: print(f"iter {it}: loss {l.item():.4f}, time {dt*1000:.2f}ms, mfu {-100.0 if it < 5 else 1.23:.2f}%")
    it += 1
    if it > a.max_iters: break
