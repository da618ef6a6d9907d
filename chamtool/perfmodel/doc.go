// Package perfmodel learns how long the tasks of one function take, from the
// sizes of their arguments, while they run.
//
// An [Entry] is one task function. It holds several models of the same samples
// and decides which one serves: whichever was closest lately on tasks it had
// not seen when it answered. From the most to the least particular:
//
//   - history: the median of the last runs with exactly these sizes, drawn
//     towards the local model where they are few
//   - local: the middle of the nearest runs, each scaled to the asked size by
//     the power law
//   - power: exp(a + Σ b·log size), fitted to the logarithms
//   - ridge: a + b·s + c·s^1.5 + d·s² of the total size s, fitted to relative
//     errors
//   - mlp: a small network trained elsewhere, see [Network]
//
// It decides when to fit again, which runs only repeat what is known and which
// are outliers, when the program has drifted away from what was learned, and
// how wide the interval is. It refuses to predict before the first fit
// ([ErrUntrained]), and never answers with a time of zero or less.
package perfmodel
