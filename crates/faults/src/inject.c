/*
 * Makes file operations of a program fail. Loaded by LD_PRELOAD; the Rust part of this crate sets the variables.
 *
 * A seccomp filter traps the system calls that change files, of libc, SQLite and of crates without libc alike. The handler
 * of the trap executes them with a mark that the filter lets pass, or answers with a fault:
 *
 *     READYOK_FAULT_DIR   only files in this directory count
 *     READYOK_FAULT       none, full, io, broken, short, sync or kill, and the number of the call from 1
 *     READYOK_FAULT_LOG   gets a line for each call: number, class, call, path; the call that failed has a `!`
 *
 * The handler calls only functions that are safe in signal handlers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

/* Sixth argument of calls that pass. The trapped calls have at most five. */
#define MARK 0x52646b21L

enum kind { NONE, FULL, IO, BROKEN, SHORT, SYNC, KILL };
static const char *const KINDS[] = {"none", "full", "io", "broken", "short", "sync", "kill"};
/* What a call does: data, length, flush, name, removal. */
enum class { DATA, LENGTH, FLUSH, NAME, REMOVE };
static const char CLASSES[] = "wlsnr";

static enum kind kind;
static long target_number;
static long counter;
static char directory[1024];
static size_t directory_length;
static int log_file = -1;

static long call(long number, long a, long b, long c, long d, long e) {
    long result;
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = MARK;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = MARK;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    result = x0;
#endif
    return result;
}

static size_t append_number(char *text, size_t length, long number) {
    char digits[20];
    size_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) text[length++] = digits[--count];
    return length;
}

static size_t append(char *text, size_t length, size_t size, const char *more) {
    while (*more && length < size) text[length++] = *more++;
    return length;
}

/* Whether a path is in the directory. Tests use absolute paths. */
static int is_inside(const char *path, size_t length) {
    return length > directory_length && !memcmp(path, directory, directory_length) && path[directory_length] == '/';
}

static int path_of(long file, char *path, size_t size) {
    char link[40];
    size_t length = append(link, 0, sizeof link, "/proc/self/fd/");
    if (file < 0) return 0;
    link[append_number(link, length, file)] = 0;
    long found = call(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, (long)size - 1, 0);
    if (found <= 0) return 0;
    path[found] = 0;
    return is_inside(path, (size_t)found);
}

static int copy_path(long from, char *path, size_t size) {
    const char *text = (const char *)from;
    size_t length = text ? strnlen(text, size - 1) : 0;
    memcpy(path, text, length);
    path[length] = 0;
    return is_inside(path, length);
}

static void record(long number, enum class class, const char *name, const char *path, int failed) {
    char line[1300];
    size_t length = append_number(line, 0, number);
    line[length++] = ' ';
    line[length++] = CLASSES[class];
    line[length++] = ' ';
    length = append(line, length, 60, name);
    line[length++] = ' ';
    length = append(line, length, sizeof line - 4, path);
    if (failed) length = append(line, length, sizeof line - 1, " !");
    line[length++] = '\n';
    call(SYS_write, log_file, (long)line, (long)length, 0, 0);
}

/* Writes the first half of the data of a call. */
static long write_half(long number, long a, long b, long c, long d) {
    if (number == SYS_write || number == SYS_pwrite64) return call(number, a, b, c > 1 ? c / 2 : c, d, 0);
    const struct iovec *parts = (const struct iovec *)b;
    struct iovec half = {0};
    for (long part = 0; part < c && !half.iov_len; part++) half = parts[part];
    if (half.iov_len > 1) half.iov_len /= 2;
    return call(number, a, (long)&half, 1, d, 0);
}

static long handle(long number, long a, long b, long c, long d, long e) {
    char path[1024] = {0};
    enum class class = NAME;
    const char *name = "";
    int counts;
    switch (number) {
#define BY_FILE(NAME, CLASS) \
    case SYS_##NAME: name = #NAME, class = CLASS, counts = path_of(a, path, sizeof path); break;
#define BY_PATH(NAME, CLASS, ARGUMENT) \
    case SYS_##NAME: name = #NAME, class = CLASS, counts = copy_path(ARGUMENT, path, sizeof path); break;
        BY_FILE(write, DATA)
        BY_FILE(pwrite64, DATA)
        BY_FILE(writev, DATA)
        BY_FILE(pwritev, DATA)
        BY_FILE(ftruncate, LENGTH)
        BY_FILE(fallocate, LENGTH)
        BY_FILE(fsync, FLUSH)
        BY_FILE(fdatasync, FLUSH)
        BY_PATH(openat, NAME, b)
        BY_PATH(mkdirat, NAME, b)
        BY_PATH(renameat, NAME, d)
        BY_PATH(renameat2, NAME, d)
        BY_PATH(linkat, NAME, d)
        BY_PATH(unlinkat, REMOVE, b)
#ifdef SYS_open
        BY_PATH(open, NAME, a)
        BY_PATH(mkdir, NAME, a)
        BY_PATH(rename, NAME, b)
        BY_PATH(link, NAME, b)
        BY_PATH(unlink, REMOVE, a)
#endif
    default: return -ENOSYS;
    }
    /* Opening an existing file changes nothing. */
    struct stat found;
    int opens = number == SYS_openat;
#ifdef SYS_open
    opens = opens || number == SYS_open;
#endif
    if (counts && opens && call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&found, 0, 0) == 0) counts = 0;
    if (counts) {
        if (kind == FULL || kind == IO || kind == BROKEN) counts = kind == BROKEN || class != FLUSH;
        if (kind == SHORT) counts = class == DATA;
        if (kind == SYNC) counts = class == FLUSH;
        if (class == REMOVE) counts = kind == NONE || kind == KILL;
        /* A length without data needs no space. */
        if (class == LENGTH && kind == FULL) counts = 0;
    }
    if (!counts) return call(number, a, b, c, d, e);
    long current = __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
    int is_persistent = kind == FULL || kind == BROKEN;
    int fails = kind != NONE && (current == target_number || (is_persistent && current > target_number));
    record(current, class, name, path, fails);
    if (!fails) return call(number, a, b, c, d, e);
    switch (kind) {
    case FULL:
        /* The last space is used by the first part of the data. */
        return current == target_number && class == DATA ? write_half(number, a, b, c, d) : -ENOSPC;
    case IO:
    case BROKEN:
    case SYNC: return -EIO;
    case SHORT: return write_half(number, a, b, c, d);
    case KILL:
        call(number, a, b, c, d, e);
        call(SYS_kill, call(SYS_getpid, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0);
        for (;;) call(SYS_sched_yield, 0, 0, 0, 0, 0);
    case NONE: break;
    }
    return call(number, a, b, c, d, e);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal;
    ucontext_t *state = context;
    int saved = errno;
#if defined(__x86_64__)
    greg_t *r = state->uc_mcontext.gregs;
    r[REG_RAX] = handle(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8]);
#else
    unsigned long long *r = state->uc_mcontext.regs;
    r[0] = (unsigned long long)handle(info->si_syscall, (long)r[0], (long)r[1], (long)r[2], (long)r[3], (long)r[4]);
#endif
    errno = saved;
}

#define LOAD(FIELD) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, FIELD))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRAP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define DENY BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
#define IF_CALL(NAME) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##NAME, 0, 1)
#define TRAP_CALL(NAME) IF_CALL(NAME), TRAP
#define DENY_CALL(NAME) IF_CALL(NAME), DENY
/* Traps a call if it can create a file. */
#define TRAP_CREATION(NAME, FLAGS) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##NAME, 0, 4), LOAD(FLAGS), \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1), TRAP, ALLOW

static void fail(const char *text) {
    write(2, text, strlen(text));
    _exit(99);
}

__attribute__((constructor)) static void start(void) {
    const char *place = getenv("READYOK_FAULT_DIR"), *fault = getenv("READYOK_FAULT"), *log = getenv("READYOK_FAULT_LOG");
    if (!place || !fault || !log) return;
    directory_length = strlen(place);
    if (directory_length >= sizeof directory) fail("READYOK_FAULT_DIR is too long\n");
    memcpy(directory, place, directory_length);
    const char *number = strchr(fault, ' ');
    for (int it = NONE; it <= KILL; it++)
        if (number && !strncmp(fault, KINDS[it], (size_t)(number - fault))) kind = it;
    target_number = number ? atol(number) : 0;
    /* Before the first trapped call: the filter of a parent applies already. */
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    int opened = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_file = fcntl(opened, F_DUPFD_CLOEXEC, 200);
    close(opened);
    if (log_file < 0) fail("READYOK_FAULT_LOG cannot be opened\n");
    struct sock_filter filter[] = {
        LOAD(args[5]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
        ALLOW,
        LOAD(nr),
        /* Their callers fall back to calls that are trapped. */
        DENY_CALL(copy_file_range),
        DENY_CALL(sendfile),
        DENY_CALL(splice),
        DENY_CALL(pwritev2),
        DENY_CALL(io_uring_setup),
        TRAP_CALL(write),
        TRAP_CALL(pwrite64),
        TRAP_CALL(writev),
        TRAP_CALL(pwritev),
        TRAP_CALL(ftruncate),
        TRAP_CALL(fallocate),
        TRAP_CALL(fsync),
        TRAP_CALL(fdatasync),
        TRAP_CALL(mkdirat),
        TRAP_CALL(renameat),
        TRAP_CALL(renameat2),
        TRAP_CALL(linkat),
        TRAP_CALL(unlinkat),
#ifdef SYS_open
        TRAP_CALL(mkdir),
        TRAP_CALL(rename),
        TRAP_CALL(link),
        TRAP_CALL(unlink),
        TRAP_CREATION(open, args[1]),
#endif
        TRAP_CREATION(openat, args[2]),
        ALLOW,
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp is not available\n");
}
