/*
 * sys.h - the operating system as the traced world sees it: a dozen raw system calls. No libc, no
 * errno, no memory of its own. Implemented by os/<os>/os.c.
 */
#ifndef NSC_LINUX_SYS_SYS_H
#define NSC_LINUX_SYS_SYS_H

#include <stddef.h>
#include <stdint.h>

/* Functions that return int or long return a negative errno on failure. Context: any. */

int nsc_os_open(const char *path, int writable); /* close-on-exec, never follows into a tty */
void nsc_os_close(int fd);
long nsc_os_read(int fd, void *to, size_t bytes); /* goes on after EINTR; 0 = end of file */
int64_t nsc_os_size(int fd);
long nsc_os_read_at(int fd, void *to, size_t bytes, uint64_t offset);
long nsc_os_write_at(int fd, const void *from, size_t bytes, uint64_t offset);

/* Maps return NULL on failure. */
void *nsc_os_map_shared(int fd, size_t bytes); /* left out of core dumps */
/* The same, below the address @limit if there is room; NULL: anywhere. */
void *nsc_os_map_shared_below(int fd, size_t bytes, const void *limit);
void *nsc_os_map_private(size_t bytes);   /* zeros; takes no memory before it is touched */
void nsc_os_dump(void *at, size_t bytes); /* let it be part of core dumps after all */
void nsc_os_unmap(void *at, size_t bytes);
void nsc_os_map_zeros_over(void *at, size_t bytes); /* in place of what is mapped there */
void nsc_os_discard(void *at, size_t bytes);        /* private memory reads zero again */
/* Maps memory for code exactly there: zeros, readable and executable, never writable. -EEXIST:
 * there is something else. */
int nsc_os_map_code(uint64_t at, size_t bytes);
int nsc_os_is_mapped(uint64_t at); /* whether anything is; @at may be any address */
/* Addresses that are to be left to the program's first stack, which grows. Returns 0 or -1. */
int nsc_os_main_stack(uint64_t *start, uint64_t *end);
void nsc_os_map_pages(void *at, size_t bytes);   /* no faults there later; where the kernel can */
int nsc_os_wipe_on_fork(void *at, size_t bytes); /* children find zeros there */

enum { NSC_OS_READ = 1, NSC_OS_WRITE = 2, NSC_OS_EXEC = 4 };
int nsc_os_protect(void *at, size_t bytes, int protection);
size_t nsc_os_page_bytes(void);
int nsc_os_address_space_limited(void); /* RLIMIT_AS is set */

uint32_t nsc_os_pid(void);
uint32_t nsc_os_tid(void);
/* Process and thread as those see us who mounted /proc: other numbers than the above in a pid
 * namespace of our own. Returns 0 or -1. */
int nsc_os_ids_in_proc(uint32_t *pid, uint32_t *tid);
void nsc_os_thread_name(char name[16]); /* all zeros if it cannot be had */
void nsc_os_sleep_ns(uint32_t ns);      /* below a second; may return early */

/* Whether there is such a process, as far as this pid namespace goes. One that has ended counts as
 * gone, even if nobody has asked for its status. */
int nsc_os_process_lives(uint32_t pid);

/* Whether a thread has ended, as far as this pid namespace goes; false where that is not known. */
int nsc_os_thread_ended(uint32_t pid, uint32_t tid);

/* Blocks every signal of this thread; returns the mask that was, for nsc_os_set_signals(). */
uint64_t nsc_os_block_signals(void);
void nsc_os_set_signals(uint64_t mask);

/* Every thread of the process has fetched anew the code that it executes, before this returns.
 * Takes 10 to 20 ms the first time in a process, then a microsecond. -ENOSYS: the kernel cannot. */
int nsc_os_sync_cores(void);

/**
 * nsc_os_open_memory - open the memory file of a session, which somebody else names.
 * Anything but a file without a name that the effective user or root has made is refused, and not
 * opened: to open a device or a FIFO has effects.
 * Returns a descriptor, -EPERM (it is no such file), or another negative errno.
 */
int nsc_os_open_memory(const char *path);

/* An empty memory file that can be sealed, close-on-exec, of a descriptor number that the program
 * does not expect to get. */
int nsc_os_memory_file(void);

/* A pipe, close-on-exec, of descriptor numbers as above. Returns 0 or a negative errno. */
int nsc_os_pipe(int *reads, int *writes);
/* Waits until there is something to read, or the end. Returns 1, 0 after @ms milliseconds, or a
 * negative errno. */
int nsc_os_readable(int fd, uint32_t ms);

/**
 * nsc_os_spawn - start a program that is no child of this process and shares nothing with it but
 * the working directory and standard error.
 * @named: a file to try first, which the environment names; NULL: none. Where the effective user is
 *         root, the file and its folder must be root's, and nobody else may write there.
 * @paths: files to try then, up to a NULL.
 * @argv, @environment: as execve() takes them.
 * @fds:   descriptors that it gets as 3 and 4.
 * Returns 0, -ENOENT if there is none of @paths, or another negative errno.
 */
int nsc_os_spawn(const char *named, const char *const *paths, const char *const *argv,
                 const char *const *environment, const int fds[2]);

/* Programs count on getting the lowest free number: returns a high one in place of @fd, if there is
 * one. */
int nsc_os_raise_fd(int fd);

uint32_t nsc_os_uid(void); /* the effective one */
void nsc_os_set_thread_name(const char *name);

int nsc_os_open_link(const char *path); /* what is there itself, be it a link; not for reading */
int nsc_os_read_link(int fd, char *to, size_t bytes); /* of such a descriptor */
int nsc_os_owner(int fd, uint32_t *uid);
/* Is it a file without a name, of the effective user or root? */
int nsc_os_is_own_memory(int fd);
void nsc_os_remove(const char *path);

void nsc_os_make_directory(const char *path); /* for this user alone, if nothing is there */
/* 0 if the directory belongs to @uid, nobody else may enter it, and it is no link; -ENOENT: there
 * is none. */
int nsc_os_own_directory(const char *path, uint32_t uid);

/* Sockets for messages within the machine; nothing here blocks. */
int nsc_os_listen(const char *path);      /* for this user alone; in place of what is there */
uint64_t nsc_os_socket_cookie(int fd);    /* names a socket for ever; 0: it is none */
int nsc_os_accept(int fd, uint32_t *uid); /* @uid: who has connected */
/* Receives a message of exactly @bytes with no more than one descriptor, else -EPROTO. @passed:
 * that descriptor, or negative; in any case the caller's to close. */
int nsc_os_receive(int fd, void *to, size_t bytes, int *passed);
void nsc_os_send(int fd, const void *from, size_t bytes);

/* What has become of the threads of this process, but for the calling one. */
enum nsc_os_others {
    NSC_OS_OTHERS_RUN,
    NSC_OS_OTHERS_WITHOUT_FIRST, /* main()'s thread has ended */
    NSC_OS_OTHERS_OVER,
};
enum nsc_os_others nsc_os_other_threads(void);

/*
 * Samples by timer: a signal after each interval of a thread's CPU time. Only
 * linux/session/cpu_timer.c.
 *
 * nsc_os_take_ticks() gives SIGURG a handler, for good, which calls @tick with what was said when
 * the timer was started, and the timer's number; -EBUSY if the program has one. System calls that
 * the kernel can restart are; the handler runs on the alternate stack if the thread has one.
 * nsc_os_tick_start() starts a timer for the calling thread and returns its number or a negative
 * errno (-EAGAIN: RLIMIT_SIGPENDING). It outlives its thread.
 */
int nsc_os_take_ticks(void (*tick)(uint64_t value, int timer));
int nsc_os_tick_start(uint64_t interval_ns, uint64_t value);
void nsc_os_tick_stop(int timer);

/* Of the calling thread, since it began. */
struct nsc_os_usage {
    uint64_t cpu_ns, faults_major, faults_minor, switches;
};
void nsc_os_usage(struct nsc_os_usage *to);

/* Whether the program runs with rights that its caller lacks (setuid and the like), or whether that
 * cannot be found out. */
int nsc_os_privileged(void);
/* Whether real, effective and saved ids of user or group differ. */
int nsc_os_ids_differ(void);

/**
 * nsc_os_map_path - path of the file that is mapped at @address.
 * @to: at least @bytes; receives a NUL-terminated path, empty if there is none or it does not fit.
 */
void nsc_os_map_path(uintptr_t address, char *to, size_t bytes);

#endif
