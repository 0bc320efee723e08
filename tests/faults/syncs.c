/* Preloaded into the service: writes down, in order, what was made durable and what was answered,
 * and may fail a sync. SYNCS_LOG names the file; SYNCS_FAIL=<end of a file's name>:<how many pass>.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_file = -1;
static char fail_name[256];
static int fail_after = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SYNCS_LOG"), *fail = getenv("SYNCS_FAIL");
    if (path != NULL)
        log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fail != NULL)
        sscanf(fail, "%255[^:]:%d", fail_name, &fail_after);
}

static void note(const char *what, const char *name) {
    char line[512];
    int length = snprintf(line, sizeof line, "%s %s\n", what, name);
    if (log_file >= 0)
        syscall(SYS_write, log_file, line, (size_t)length);
}

static int sync_file(const char *call, int descriptor) {
    char link[64], name[256];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, name, sizeof name - 1);
    name[length < 0 ? 0 : length] = 0;
    size_t end = strlen(fail_name), all = strlen(name);
    if (fail_after >= 0 && all >= end && strcmp(name + all - end, fail_name) == 0 &&
        fail_after-- == 0) {
        note("failed", name);
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
    int result = real(descriptor);
    note(result == 0 ? "synced" : "failed", name);
    return result;
}

int fdatasync(int descriptor) { return sync_file("fdatasync", descriptor); }
int fsync(int descriptor) { return sync_file("fsync", descriptor); }

static void look(const void *data, size_t length) {
    if (length > 12 && memcmp(data, "HTTP/1.1 ", 9) == 0) {
        char status[4] = {0};
        memcpy(status, (const char *)data + 9, 3);
        note("answered", status);
    }
}

ssize_t write(int descriptor, const void *data, size_t length) {
    look(data, length);
    return syscall(SYS_write, descriptor, data, length);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (count > 0)
        look(parts[0].iov_base, parts[0].iov_len);
    return syscall(SYS_writev, descriptor, parts, count);
}

ssize_t sendto(int descriptor, const void *data, size_t length, int flags,
               const struct sockaddr *to, socklen_t size) {
    look(data, length);
    return syscall(SYS_sendto, descriptor, data, length, flags, to, size);
}

ssize_t send(int descriptor, const void *data, size_t length, int flags) {
    return sendto(descriptor, data, length, flags, NULL, 0);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    if (message->msg_iovlen > 0)
        look(message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
    return syscall(SYS_sendmsg, descriptor, message, flags);
}
