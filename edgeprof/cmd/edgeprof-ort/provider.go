package main

/*
#include <stdlib.h>

extern const void *negotiatedAPI(void);

// Places in the interface of ONNX Runtime, which only grows.
enum { getAvailableProviders = 125, releaseAvailableProviders = 126 };

// listProviders sets names to the providers that the library was built with, and returns
// their number; 0 if it does not tell.
static int listProviders(char ***names) {
	void *const *api = negotiatedAPI();
	int count = 0;
	void *(*get)(char ***, int *) = (void *(*)(char ***, int *))api[getAvailableProviders];
	return get(names, &count) ? 0 : count;
}

static void releaseProviders(char **names, int count) {
	void *const *api = negotiatedAPI();
	((void *(*)(char **, int))api[releaseAvailableProviders])(names, count);
}
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/foretime/foretime/edgeprof/internal/runtime"
)

// offeredProviders returns the execution providers that the loaded library was built with.
func offeredProviders() []string {
	var names **C.char
	count := C.listProviders(&names)
	if count == 0 {
		return nil
	}
	defer C.releaseProviders(names, count)
	var all []string
	for _, name := range unsafe.Slice(names, int(count)) {
		all = append(all, strings.TrimSuffix(C.GoString(name), "ExecutionProvider"))
	}
	return all
}

// appendProvider adds the model's execution provider to the options of a session. The error
// matches [runtime.ErrUnavailable] and names the providers that the library has.
func (s *session) appendProvider(o *ort.SessionOptions) error {
	var err error
	switch s.model.Provider {
	case "", "cpu":
		return nil
	case "cuda":
		var cuda *ort.CUDAProviderOptions
		if cuda, err = ort.NewCUDAProviderOptions(); err == nil {
			defer cuda.Destroy()
			err = o.AppendExecutionProviderCUDA(cuda)
		}
	case "tensorrt":
		var tensorRT *ort.TensorRTProviderOptions
		if tensorRT, err = ort.NewTensorRTProviderOptions(); err == nil {
			defer tensorRT.Destroy()
			err = o.AppendExecutionProviderTensorRT(tensorRT)
		}
	default:
		err = fmt.Errorf("unknown provider")
	}
	if err != nil {
		return fmt.Errorf("%w: --provider %s: %s has the providers %s: %w", runtime.ErrUnavailable, s.model.Provider, library.name, strings.Join(offeredProviders(), ", "), err)
	}
	return nil
}
