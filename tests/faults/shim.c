/* Preloaded into a process: calls that change files in one folder are counted, and from one of them on fail or kill.

   A disk that fills takes half of the first write that meets it, as real ones do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { DATA = 1, SYNC = 2, RENAME = 4, OTHER = 8 };

static char folder[PATH_MAX];
static atomic_long seen, of_kind[OTHER + 1];
static long first, last;
static int what, error; /* error 0: only count, -1: SIGKILL, else errno */

void fault_arm(const char *place, int kinds, long from, long to, int number) {
    strncpy(folder, place, sizeof folder - 1);
    what = kinds; first = from; last = to; error = number;
    seen = 0;
    memset(of_kind, 0, sizeof of_kind);
}

long fault_count(int kind) { return of_kind[kind]; }

static int inside(const char *path) { return *folder && strncmp(path, folder, strlen(folder)) == 0; }

static int inside_at(int at, const char *path) {
    char here[PATH_MAX], link[64];
    if (!*folder) return 0;
    if (path[0] == '/') return inside(path);
    if (at == AT_FDCWD) return getcwd(here, sizeof here) && inside(here);
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t n = readlink(link, here, sizeof here - 1);
    here[n > 0 ? n : 0] = 0;
    return inside(here);
}

static int of_file(int file) {
    char link[64], path[PATH_MAX];
    if (!*folder) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return inside(path);
}

/* Whether this call is to fail: 0 no, 1 yes, 2 it is the first that does. */
static int struck(int kind, int ours) {
    if (!ours) return 0;
    of_kind[kind]++;
    if (!(what & kind)) return 0;
    long number = ++seen;
    if (!error || number < first || number > last) return 0;
    if (error < 0) kill(getpid(), SIGKILL);
    errno = error;
    return number == first ? 2 : 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define WRITER(name, parameters, half, whole, file)                        \
    ssize_t name parameters {                                              \
        int hit = struck(DATA, of_file(file));                             \
        if (hit == 2 && error == ENOSPC && size > 1) return REAL(name) half; \
        return hit ? -1 : REAL(name) whole;                                \
    }
WRITER(write, (int f, const void *b, size_t size), (f, b, size / 2), (f, b, size), f)
WRITER(pwrite, (int f, const void *b, size_t size, off_t o), (f, b, size / 2, o), (f, b, size, o), f)
WRITER(pwrite64, (int f, const void *b, size_t size, off64_t o), (f, b, size / 2, o), (f, b, size, o), f)
ssize_t sendfile(int out, int in, off_t *offset, size_t size);
WRITER(sendfile, (int f, int in, off_t *o, size_t size), (f, in, o, size / 2), (f, in, o, size), f)
ssize_t sendfile64(int out, int in, off64_t *offset, size_t size);
WRITER(sendfile64, (int f, int in, off64_t *o, size_t size), (f, in, o, size / 2), (f, in, o, size), f)

#define CALL(kind, name, parameters, arguments, ours) \
    int name parameters { return struck(kind, ours) ? -1 : REAL(name) arguments; }
CALL(SYNC, fsync, (int f), (f), of_file(f))
CALL(SYNC, fdatasync, (int f), (f), of_file(f))
CALL(DATA, ftruncate, (int f, off_t n), (f, n), of_file(f))
CALL(DATA, ftruncate64, (int f, off64_t n), (f, n), of_file(f))
CALL(RENAME, rename, (const char *a, const char *b), (a, b), inside_at(AT_FDCWD, b))
CALL(RENAME, renameat, (int i, const char *a, int j, const char *b), (i, a, j, b), inside_at(j, b))
CALL(OTHER, close, (int f), (f), of_file(f))
CALL(OTHER, mkdir, (const char *p, mode_t m), (p, m), inside_at(AT_FDCWD, p))
CALL(OTHER, rmdir, (const char *p), (p), inside_at(AT_FDCWD, p))
CALL(OTHER, unlink, (const char *p), (p), inside_at(AT_FDCWD, p))
CALL(OTHER, unlinkat, (int i, const char *p, int f), (i, p, f), inside_at(i, p))
CALL(OTHER, chmod, (const char *p, mode_t m), (p, m), inside_at(AT_FDCWD, p))
int flock(int file, int how);
CALL(OTHER, flock, (int f, int h), (f, h), of_file(f))

#define OPENER(name, parameters, at, arguments)                                       \
    int name parameters {                                                             \
        mode_t mode = 0;                                                              \
        if (flags & O_CREAT) {                                                        \
            va_list rest;                                                             \
            va_start(rest, flags);                                                    \
            mode = va_arg(rest, mode_t);                                              \
            va_end(rest);                                                             \
        }                                                                             \
        return struck(OTHER, inside_at(at, path)) ? -1 : REAL(name) arguments;        \
    }
OPENER(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPENER(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPENER(openat, (int at, const char *path, int flags, ...), at, (at, path, flags, mode))
OPENER(openat64, (int at, const char *path, int flags, ...), at, (at, path, flags, mode))
