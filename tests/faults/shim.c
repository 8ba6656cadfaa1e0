/* Loaded in front of the C library: makes what the system does with files go wrong where a test wants it to.
 *
 * FAULT_FOLDER  files below it count, others are left alone
 * FAULT         ACTION:N
 * FAULT_MARK    a file that is made when something went wrong
 * FAULT_CLOCK   if set, every look at a clock finds it an hour earlier
 *
 * Reads:   eio (the Nth and all later ones fail), eintr (every Nth is interrupted), short (at most N bytes come),
 *          truncate, grow, unlink, rotate (that happens to the file before the Nth read)
 * Changes: kill (the process ends before the Nth change of a file or folder), half (it ends within it), full (no room from the
 *          Nth on), weintr (every Nth is interrupted), wshort (at most N bytes go)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *folder, *mark;
static char action[16];
static long number, reads, changes, looks;
static int is_set, clock_is_wrong;

__attribute__((constructor)) static void begin(void) {
    const char *fault = getenv("FAULT");
    folder = getenv("FAULT_FOLDER");
    mark = getenv("FAULT_MARK");
    clock_is_wrong = getenv("FAULT_CLOCK") != NULL;
    is_set = fault && folder && sscanf(fault, "%15[a-z]:%ld", action, &number) == 2;
}

static int is(const char *name) { return is_set && strcmp(action, name) == 0; }

static int is_below(const char *path) {
    size_t length = folder ? strlen(folder) : 0;
    return length && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* The path of an open file below the folder. */
static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static void happened(void) {
    if (mark) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
}

static void end(void) {
    happened();
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) syscall(SYS_pause);
}

static int fail(int error) {
    happened();
    errno = error;
    return -1;
}

static void change_file(int fd, const char *path) {
    struct stat about;
    happened();
    if (fstat(fd, &about)) return;
    if (is("truncate")) {
        syscall(SYS_truncate, path, about.st_size / 2);
    } else if (is("unlink")) {
        syscall(SYS_unlink, path);
    } else if (is("grow")) {
        char text[4096];
        ssize_t length = syscall(SYS_pread64, fd, text, sizeof text, 0L);
        int end = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND, 0);
        if (end >= 0 && length > 0) syscall(SYS_write, end, text, length);
        if (end >= 0) syscall(SYS_close, end);
    } else if (is("rotate")) {
        char old[PATH_MAX + 4];
        snprintf(old, sizeof old, "%s.1", path);
        syscall(SYS_rename, path, old);
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY, 0600));
    }
}

/* What a read may still ask for; -1 with errno where it fails. */
static ssize_t before_read(int fd, size_t length) {
    char path[PATH_MAX];
    if (!is_set || !path_of(fd, path)) return length;
    long turn = __atomic_add_fetch(&reads, 1, __ATOMIC_SEQ_CST);
    if (is("eio") && turn >= number) return fail(EIO);
    if (is("eintr") && turn % number == 0) return fail(EINTR);
    if (is("short") && length > (size_t)number) { happened(); return number; }
    if (turn == number && (is("truncate") || is("grow") || is("unlink") || is("rotate"))) change_file(fd, path);
    return length;
}

ssize_t read(int fd, void *to, size_t length) {
    ssize_t now = before_read(fd, length);
    return now < 0 ? -1 : syscall(SYS_read, fd, to, now);
}

ssize_t pread64(int fd, void *to, size_t length, off64_t at) {
    ssize_t now = before_read(fd, length);
    return now < 0 ? -1 : syscall(SYS_pread64, fd, to, now, at);
}

/* Counts a change; 0: let it be, 1: end within it, -1: it fails. */
static int before_change(void) {
    long turn = __atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST);
    if (is("kill") && turn == number) end();
    if (is("half") && turn == number) return 1;
    if (is("full") && turn >= number) return fail(ENOSPC);
    return 0;
}

ssize_t write(int fd, const void *from, size_t length) {
    char path[PATH_MAX];
    if (is_set && path_of(fd, path)) {
        int change = before_change();
        if (change < 0) return -1;
        if (change) { syscall(SYS_write, fd, from, length / 2); end(); }
        if (is("weintr") && changes % number == 0) return fail(EINTR);
        if (is("wshort") && length > (size_t)number) { happened(); length = number; }
    }
    return syscall(SYS_write, fd, from, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (is_set && path_of(fd, path)) {
        for (int part = 0; part < count; part++)
            if (parts[part].iov_len) return write(fd, parts[part].iov_base, parts[part].iov_len);
        return 0;
    }
    return syscall(SYS_writev, fd, parts, count);
}

static int open_file(const char *path, int flags, mode_t mode) {
    int change = 0;
    if (is_set && (flags & (O_CREAT | O_TRUNC)) && is_below(path) && (change = before_change()) < 0) return -1;
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (change) end();
    return fd;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return open_file(path, flags | O_LARGEFILE, mode);
}

#define CHANGE(known, call)                                             \
    int change = is_set && (known) ? before_change() : 0;               \
    if (change < 0) return -1;                                          \
    int done = (call);                                                  \
    if (change) end();                                                  \
    return done

int rename(const char *from, const char *to) { CHANGE(is_below(to), syscall(SYS_rename, from, to)); }

int fdatasync(int fd) {
    char path[PATH_MAX];
    CHANGE(path_of(fd, path), syscall(SYS_fdatasync, fd));
}

int fsync(int fd) {
    char path[PATH_MAX];
    CHANGE(path_of(fd, path), syscall(SYS_fsync, fd));
}

int ftruncate64(int fd, off64_t length) {
    char path[PATH_MAX];
    CHANGE(path_of(fd, path), syscall(SYS_ftruncate, fd, length));
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int done = syscall(SYS_clock_gettime, clock, now);
    if (clock_is_wrong && !done) {
        now->tv_sec -= 3600 * __atomic_add_fetch(&looks, 1, __ATOMIC_SEQ_CST);
        if (now->tv_sec < 0) now->tv_sec = 0;
    }
    return done;
}
