/* Preloaded into a process that changes files: counts its calls that change one, or make it durable, and
 * at one of them ends the process, stops it, asks it to end, or lets the call fail. Only files below CUTS_UNDER count.
 * CUTS_LOG names a file that each call is written to. cuts_arm(n, what) begins to count; what is 'k', 's', 't' (SIGTERM),
 * 'i' (SIGINT) or 'f'.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int armed = 0, at = 0, count = 0, log_file = -1;
static char what = 'k';

void cuts_arm(int number, char action) {
    const char *path = getenv("CUTS_LOG");
    if (path != NULL)
        log_file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    at = number;
    what = action;
    armed = 1;
}

/* Whether this call is to fail. */
static int met(const char *call, const char *name) {
    const char *under = getenv("CUTS_UNDER");
    if (!armed || under == NULL || strncmp(name, under, strlen(under)) != 0)
        return 0;
    if (log_file >= 0) {
        char line[700];
        int length = snprintf(line, sizeof line, "%s %s\n", call, name + strlen(under));
        syscall(SYS_write, log_file, line, (size_t)length);
    }
    if (__sync_add_and_fetch(&count, 1) != at)
        return 0;
    if (what == 'f') {
        errno = EIO;
        return 1;
    }
    int number = what == 's' ? SIGSTOP : what == 't' ? SIGTERM : what == 'i' ? SIGINT : SIGKILL;
    syscall(SYS_kill, syscall(SYS_getpid), number);
    return 0;
}

static int met_file(const char *call, int descriptor) {
    char link[64], name[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = 0;
    return met(call, name);
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

int fsync(int fd) { return met_file("fsync", fd) ? -1 : REAL(int, "fsync", int)(fd); }
int fdatasync(int fd) { return met_file("fdatasync", fd) ? -1 : REAL(int, "fdatasync", int)(fd); }

ssize_t write(int fd, const void *data, size_t length) {
    return met_file("write", fd) ? -1 : syscall(SYS_write, fd, data, length);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    return met_file("write", fd) ? -1 : syscall(SYS_pwrite64, fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return pwrite(fd, data, length, offset); }

int ftruncate(int fd, off_t length) {
    return met_file("ftruncate", fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

static const char *whole(int folder, const char *path, char *out, size_t size) {
    if (path[0] == '/' || folder == AT_FDCWD)
        return path;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, out, size - 1);
    out[length < 0 ? 0 : length] = 0;
    snprintf(out + strlen(out), size - strlen(out), "/%s", path);
    return out;
}

int renameat(int from, const char *old, int to, const char *new) {
    char name[700];
    return met("rename", whole(to, new, name, sizeof name)) ? -1 : (int)syscall(SYS_renameat, from, old, to, new);
}

int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char name[700];
    return met("link", whole(to, new, name, sizeof name)) ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int mkdir(const char *path, mode_t mode) {
    return met("mkdir", path) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlinkat(int folder, const char *path, int flags) {
    char name[700];
    return met("unlink", whole(folder, path, name, sizeof name)) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    char name[700];
    if ((flags & (O_CREAT | O_TRUNC)) && met("open", whole(folder, path, name, sizeof name)))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(mode, flags)              \
    mode_t mode = 0;                   \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list list;                  \
        va_start(list, flags);         \
        mode = va_arg(list, mode_t);   \
        va_end(list);                  \
    }

int open(const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(folder, path, flags, mode);
}
