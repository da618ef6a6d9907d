package main

// The binding asks a library for the interface that the binding was written for, which
// older libraries refuse. Interfaces only grow, so it is given the newest one that the
// library has; of the functions that this program calls, 1.16 has all.

/*
#cgo LDFLAGS: -Wl,--wrap=SetAPIFromBase
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const void *(*api)(uint32_t version);
	const char *(*version)(void);
} Base;

extern int __real_SetAPIFromBase(const Base *base);

static const Base *loaded;

// loadedVersion is that of the last library; a refused one is unloaded.
char loadedVersion[32];

// loadedMinor returns N of a version 1.N.P; 0 of others.
static int loadedMinor(void) {
	return strncmp(loadedVersion, "1.", 2) == 0 ? atoi(loadedVersion + 2) : 0;
}

static const void *api;

// negotiatedAPI returns the interface that the binding got.
const void *negotiatedAPI(void) { return api; }

static const void *newestAPI(uint32_t wanted) {
	uint32_t minor = (uint32_t)loadedMinor();
	api = loaded->api(minor < wanted ? minor : wanted);
	return api;
}

int __wrap_SetAPIFromBase(const Base *base) {
	static Base negotiated;
	loaded = base;
	if (!base) {
		return 1;
	}
	strncpy(loadedVersion, base->version(), sizeof loadedVersion - 1);
	if (loadedMinor() < 16) {
		return 1;
	}
	negotiated.api = newestAPI;
	negotiated.version = base->version;
	return __real_SetAPIFromBase(&negotiated);
}
*/
import "C"

// oldestMinor is N of the oldest ONNX Runtime 1.N that this program can call.
const oldestMinor = 16

// refusedVersion returns the version of the library that was loaded last if it is too old;
// "" if it is not.
func refusedVersion() string {
	if int(C.loadedMinor()) >= oldestMinor {
		return ""
	}
	return C.GoString(&C.loadedVersion[0])
}
