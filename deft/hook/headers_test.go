package hook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unwatched lists the entry points of the driver that take a stream or a graph to launch
// and give the device no work, wait for none and end none: the hook passes them on.
var unwatched = []string{
	// They order, describe or create.
	"cuEventRecord", "cuEventRecordWithFlags", "cuStreamWaitEvent",
	"cuStreamCopyAttributes", "cuStreamGetAttribute", "cuStreamSetAttribute", "cuStreamGetCtx", "cuStreamGetDevGroup",
	"cuStreamGetDevResource", "cuStreamGetDevice", "cuStreamGetFlags", "cuStreamGetGreenCtx", "cuStreamGetId", "cuStreamGetPriority",
	"cuStreamCreate", "cuStreamCreateWithPriority", "cuGreenCtxStreamCreate", "cuStreamAttachMemAsync",
	"cuStreamGetCaptureInfo", "cuStreamIsCapturing", "cuStreamUpdateCaptureDependencies", "cuThreadExchangeStreamCaptureMode",
	// They wait on the device, or write a word: no kernel and no copy.
	"cuStreamBatchMemOp", "cuStreamWaitValue32", "cuStreamWaitValue64", "cuStreamWriteValue32", "cuStreamWriteValue64",
	"cuSignalExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync",
	// They change mappings.
	"cuMemMapArrayAsync", "cuGraphicsMapResources", "cuGraphicsUnmapResources",
	// They change a graph that is ready to launch, whose kernels stay as many.
	"cuGraphExecBatchMemOpNodeSetParams", "cuGraphExecChildGraphNodeSetParams", "cuGraphExecEventRecordNodeSetEvent",
	"cuGraphExecEventWaitNodeSetEvent", "cuGraphExecExternalSemaphoresSignalNodeSetParams",
	"cuGraphExecExternalSemaphoresWaitNodeSetParams", "cuGraphExecGetFlags", "cuGraphExecGetId", "cuGraphExecHostNodeSetParams",
	"cuGraphExecKernelNodeSetParams", "cuGraphExecMemcpyNodeSetParams", "cuGraphExecMemsetNodeSetParams",
	"cuGraphExecNodeSetParams", "cuGraphNodeGetEnabled", "cuGraphNodeSetEnabled",
}

// Every entry point of the newest CUDA headers that takes a stream or a graph to launch is
// wrapped or listed as unwatched.
func TestRealHeadersAreClassified(t *testing.T) {
	found, err := filepath.Glob(filepath.Join("..", "..", "out", "real", "pip", "nvidia-cuda-runtime==*", "nvidia", "*", "include", "cudaTypedefs.h"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("needs the wheel nvidia-cuda-runtime of deft/real.txt in out/real/pip")
	}
	header, err := os.ReadFile(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("src/driver.h")
	if err != nil {
		t.Fatal(err)
	}
	wrapped := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^    (?:ROW|PTSZ|PTDS)\(.*?\b(cu\w+)`).FindAllStringSubmatch(string(table), -1) {
		wrapped[regexp.MustCompile(`(_v\d+)?(_pts?[zd]s?)?$`).ReplaceAllString(m[1], "")] = true
	}
	typedef := regexp.MustCompile(`CUDAAPI \*PFN_(cu\w+?)_v\d+(_ptsz|_ptds)?\)\(([^)]*)\)`)
	entries := typedef.FindAllStringSubmatch(string(header), -1)
	if len(entries) < 400 || len(wrapped) < 50 {
		t.Fatalf("%s has %d entry points, src/driver.h %d: the patterns do not fit", found[len(found)-1], len(entries), len(wrapped))
	}
	var missing []string
	for _, e := range entries {
		name, variant, parameters := e[1], e[2], e[3]
		takes := strings.Contains(parameters, "CUstream ") || strings.Contains(parameters, "CUgraphExec ") || variant != ""
		if takes && !wrapped[name] && !slices.Contains(unwatched, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range slices.Compact(missing) {
		t.Errorf("%s takes a stream or a graph and is neither in src/driver.h nor unwatched", name)
	}
}
