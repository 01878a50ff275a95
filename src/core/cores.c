/* What this process may use of the machine: the cores of its affinity mask and the memory, limited by its control groups,
 * as containers set them. */
#include "system/system.h"
#include "team.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PATH_BYTES = 4096 };

/* Reads whole numbers from a small file; "max" and anything else that is no number ends them. */
static int read_numbers(const char *folder, const char *name, long long *number, int n)
{
    char path[PATH_BYTES + 64];
    int n_read = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    while (file != NULL && n_read < n && fscanf(file, "%lld", &number[n_read]) == 1) n_read++;
    if (file != NULL) fclose(file);
    return n_read;
}

/* Processor time over elapsed time that a control group may take, in whole cores; `most` without a quota.
 * The first form is that of version 2, the second that of version 1. */
static long long quota_of(const char *folder, long long most)
{
    long long of[2] = {0, 0};
    if (read_numbers(folder, "cpu.max", of, 2) < 2 &&
        (read_numbers(folder, "cpu.cfs_quota_us", of, 1) < 1 ||
         read_numbers(folder, "cpu.cfs_period_us", of + 1, 1) < 1))
        return most;
    if (of[0] <= 0 || of[1] <= 0) return most;
    long long cores = (of[0] - 1) / of[1] + 1;
    return cores < most ? cores : most;
}

/* Bytes that a control group may use, in either version. */
static long long memory_of(const char *folder, long long most)
{
    long long bytes = 0;
    if (read_numbers(folder, "memory.max", &bytes, 1) < 1 &&
        read_numbers(folder, "memory.limit_in_bytes", &bytes, 1) < 1)
        return most;
    return bytes > 0 && bytes < most ? bytes : most;
}

typedef long long (*limit_of)(const char *folder, long long most);

/* The least limit of a group and all groups around it. `group` is cut off from its end. */
static long long least_limit(const char *root, char *group, limit_of limit, long long most)
{
    for (;;) {
        char folder[PATH_BYTES];
        int n = snprintf(folder, sizeof folder, "%s%s", root, group);
        if (n > 0 && n < PATH_BYTES) most = limit(folder, most);
        char *slash = strrchr(group, '/');
        if (slash == NULL) return most;
        *slash = '\0';
    }
}

/* A line of the file is "number:controllers:/group"; version 2 has no controllers. */
static long long limit_by_groups(const char *groups, const char *root, const char *controller, limit_of limit,
                                 long long most)
{
    size_t n = strlen(controller);
    char line[PATH_BYTES], at[PATH_BYTES];
    FILE *file = fopen(groups, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':'),
             *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool second = controllers[1] == '\0';
        if (!second && (strncmp(controllers + 1, controller, n) != 0 ||
                        (controllers[1 + n] != ',' && controllers[1 + n] != '\0')))
            continue;
        snprintf(at, sizeof at, "%s%s%s", root, second ? "" : "/", second ? "" : controller);
        most = least_limit(at, group, limit, most);
    }
    if (file != NULL) fclose(file);
    return most;
}

long cofi_limit_cores(const char *groups, const char *root, long most)
{
    return (long)limit_by_groups(groups, root, "cpu", quota_of, most);
}

uint64_t cofi_limit_memory(const char *groups, const char *root, uint64_t most)
{
    return (uint64_t)limit_by_groups(groups, root, "memory", memory_of,
                                     most < INT64_MAX ? (long long)most : INT64_MAX);
}

uint64_t cof_memory(void)
{
    return cofi_limit_memory("/proc/self/cgroup", "/sys/fs/cgroup", cofi_machine_memory());
}

/* The quota is read once, because it lies in several files, and every team asks for it. */
uint32_t cof_n_cores(void)
{
    static atomic_long quota; /* 0: not read yet */
    long limit = atomic_load(&quota), n = cofi_usable_cores();
    if (limit == 0) {
        limit = cofi_limit_cores("/proc/self/cgroup", "/sys/fs/cgroup", LONG_MAX);
        atomic_store(&quota, limit);
    }
    n = n < limit ? n : limit;
    return n > 0 ? (uint32_t)n : 1;
}
