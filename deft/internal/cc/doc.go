// Package cc turns embedded C sources into a file in a cache folder, with the
// machine's C compiler, once.
//
// It decides where a product lies: DIR/HASH/NAME, the hash taken over the
// sources, the arguments and the compiler itself, so that a new version of the
// program never meets an old product, and two versions never fight. Any number
// of processes may ask for the same product at once: each compiles in a folder
// of its own and the first to rename it into place wins; a process that dies
// half-way leaves nothing that another would take for a product.
//
// A release has its products inside, made for each processor ([Made]): there no
// compiler is asked for, unless one is named.
//
// It refuses to guess: without a compiler the answer is [ErrNoCompiler], and
// sources that do not compile are a [*CompileError] with the compiler's words.
//
//	//go:embed src
//	var sources embed.FS
//
//	files, _ := fs.Sub(sources, "src")
//	path, err := cc.Compiler{Cache: dir}.Build(ctx, cc.Product{
//		Name: "libcuda.so.1", Sources: []fs.FS{files},
//		Args: []string{"-O2", "-shared", "-fPIC", "simcuda.c"},
//	})
package cc
