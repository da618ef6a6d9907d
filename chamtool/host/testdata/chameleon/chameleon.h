// The part of the runtime's interface that makespan.c stands on, as the
// runtime's header has it, so that it compiles without the runtime.
#include <stdint.h>
#include <stdlib.h>

enum { CHAM_OMP_TGT_MAPTYPE_TO = 1, CHAM_OMP_TGT_MAPTYPE_FROM = 2, CHAM_OMP_TGT_MAPTYPE_LITERAL = 0x100 };

typedef struct {
    void *pointer;
    int64_t size;
    int64_t type;
} chameleon_map_data_entry_t;
typedef struct cham_migratable_task_t cham_migratable_task_t;

chameleon_map_data_entry_t chameleon_map_data_entry_create(void *pointer, size_t size, int type);
cham_migratable_task_t *chameleon_create_task(void *entry, int count, chameleon_map_data_entry_t *args);
int32_t chameleon_add_task(cham_migratable_task_t *task);
int32_t chameleon_thread_init();
int32_t chameleon_determine_base_addresses(void *program);
int32_t chameleon_distributed_taskwait(int nowait);
int32_t chameleon_thread_finalize();
int32_t chameleon_finalize();
