/*
 * sys.h - the operating system as the traced world sees it: a dozen raw system calls. No libc, no
 * errno, no memory of its own. Implemented by os/<os>/os.c.
 */
#ifndef NSC_LINUX_SYS_SYS_H
#define NSC_LINUX_SYS_SYS_H

#include <stddef.h>
#include <stdint.h>

/* Functions that return int or long return a negative errno on failure. Context: any. */

int nsc_sys_open(const char *path, int writable); /* close-on-exec, never follows into a tty */
void nsc_sys_close(int fd);
long nsc_sys_read(int fd, void *to, size_t bytes); /* goes on after EINTR; 0 = end of file */
int64_t nsc_sys_size(int fd);
long nsc_sys_read_at(int fd, void *to, size_t bytes, uint64_t offset);
long nsc_sys_write_at(int fd, const void *from, size_t bytes, uint64_t offset);

/* Maps return NULL on failure. */
void *nsc_sys_map_shared(int fd, size_t bytes); /* left out of core dumps */
/* The same, below the address @limit if there is room; NULL: anywhere. */
void *nsc_sys_map_shared_below(int fd, size_t bytes, const void *limit);
void *nsc_sys_map_private(size_t bytes);   /* zeros; takes no memory before it is touched */
void nsc_sys_dump(void *at, size_t bytes); /* let it be part of core dumps after all */
void nsc_sys_unmap(void *at, size_t bytes);
void nsc_sys_map_zeros_over(void *at, size_t bytes); /* in place of what is mapped there */
void nsc_sys_discard(void *at, size_t bytes);        /* private memory reads zero again */
/* Maps memory for code exactly there: zeros, readable and executable, never writable. -EEXIST:
 * there is something else. */
int nsc_sys_map_code(uint64_t at, size_t bytes);
int nsc_sys_is_mapped(uint64_t at); /* whether anything is; @at may be any address */
/* Addresses that are to be left to the program's first stack, which grows. Returns 0 or -1. */
int nsc_sys_main_stack(uint64_t *start, uint64_t *end);
void nsc_sys_map_pages(void *at, size_t bytes);   /* no faults there later; where the kernel can */
int nsc_sys_wipe_on_fork(void *at, size_t bytes); /* children find zeros there */

enum { NSC_SYS_READ = 1, NSC_SYS_WRITE = 2, NSC_SYS_EXEC = 4 };
int nsc_sys_protect(void *at, size_t bytes, int protection);
size_t nsc_sys_page_bytes(void);
int nsc_sys_address_space_limited(void); /* RLIMIT_AS is set */

uint32_t nsc_sys_pid(void);
uint32_t nsc_sys_tid(void);
/* Process and thread as those see us who mounted /proc: other numbers than the above in a pid
 * namespace of our own. Returns 0 or -1. */
int nsc_sys_ids_in_proc(uint32_t *pid, uint32_t *tid);
void nsc_sys_thread_name(char name[16]); /* all zeros if it cannot be had */
void nsc_sys_sleep_ns(uint32_t ns);      /* below a second; may return early */

/* Whether there is such a process, as far as this pid namespace goes. One that has ended counts as
 * gone, even if nobody has asked for its status. */
int nsc_sys_process_lives(uint32_t pid);

/* Whether a thread has ended, as far as this pid namespace goes; false where that is not known. */
int nsc_sys_thread_ended(uint32_t pid, uint32_t tid);

/* Blocks every signal of this thread; returns the mask that was, for nsc_sys_set_signals(). */
uint64_t nsc_sys_block_signals(void);
void nsc_sys_set_signals(uint64_t mask);

/* Every thread of the process has fetched anew the code that it executes, before this returns.
 * Takes 10 to 20 ms the first time in a process, then a microsecond. -ENOSYS: the kernel cannot. */
int nsc_sys_sync_cores(void);

/**
 * nsc_sys_open_memory - open the memory file of a session, which somebody else names.
 * Anything but a file without a name that the effective user or root has made is refused, and not
 * opened: to open a device or a FIFO has effects.
 * Returns a descriptor, -EPERM (it is no such file), or another negative errno.
 */
int nsc_sys_open_memory(const char *path);

/* An empty memory file that can be sealed, close-on-exec, of a descriptor number that the program
 * does not expect to get. */
int nsc_sys_memory_file(void);

/* A pipe, close-on-exec, of descriptor numbers as above. Returns 0 or a negative errno. */
int nsc_sys_pipe(int *reads, int *writes);
/* Waits until there is something to read, or the end. Returns 1, 0 after @ms milliseconds, or a
 * negative errno. */
int nsc_sys_readable(int fd, uint32_t ms);

/**
 * nsc_sys_spawn - start a program that is no child of this process and shares nothing with it but
 * the working directory and standard error.
 * @named: a file to try first, which the environment names; NULL: none. Where the effective user is
 *         root, the file and its folder must be root's, and nobody else may write there.
 * @paths: files to try then, up to a NULL.
 * @argv, @environment: as execve() takes them.
 * @fds:   descriptors that it gets as 3 and 4.
 * Returns 0, -ENOENT if there is none of @paths, or another negative errno.
 */
int nsc_sys_spawn(const char *named, const char *const *paths, const char *const *argv,
                  const char *const *environment, const int fds[2]);

/* Programs count on getting the lowest free number: returns a high one in place of @fd, if there is
 * one. */
int nsc_sys_raise_fd(int fd);

uint32_t nsc_sys_uid(void); /* the effective one */
void nsc_sys_set_thread_name(const char *name);

int nsc_sys_open_link(const char *path); /* what is there itself, be it a link; not for reading */
int nsc_sys_read_link(int fd, char *to, size_t bytes); /* of such a descriptor */
int nsc_sys_owner(int fd, uint32_t *uid);
/* Is it a file without a name, of the effective user or root? */
int nsc_sys_is_own_memory(int fd);
void nsc_sys_remove(const char *path);

void nsc_sys_make_directory(const char *path); /* for this user alone, if nothing is there */
/* 0 if the directory belongs to @uid, nobody else may enter it, and it is no link; -ENOENT: there
 * is none. */
int nsc_sys_own_directory(const char *path, uint32_t uid);

/* Sockets for messages within the machine; nothing here blocks. */
int nsc_sys_listen(const char *path);      /* for this user alone; in place of what is there */
int nsc_sys_connect(const char *path);     /* -EAGAIN: the queue there is full */
uint64_t nsc_sys_socket_cookie(int fd);    /* names a socket for ever; 0: it is none */
int nsc_sys_accept(int fd, uint32_t *uid); /* @uid: who has connected */
/* Receives a message of exactly @bytes with no more than one descriptor, else -EPROTO. @passed:
 * that descriptor, or negative; in any case the caller's to close. */
int nsc_sys_receive(int fd, void *to, size_t bytes, int *passed);
long nsc_sys_send(int fd, const void *from, size_t bytes); /* @bytes or -errno */

/* What has become of the threads of this process, but for the calling one. */
enum nsc_sys_others {
    NSC_SYS_OTHERS_RUN,
    NSC_SYS_OTHERS_WITHOUT_FIRST, /* main()'s thread has ended */
    NSC_SYS_OTHERS_OVER,
};
enum nsc_sys_others nsc_sys_other_threads(void);

/*
 * Samples by timer: a signal after each interval of a thread's CPU time. Only
 * linux/session/cpu_timer.c and linux/events/cpu_sampler.c.
 *
 * nsc_sys_take_ticks() gives SIGURG a handler, for good, which calls @tick with what was said when
 * the timer was started, and the timer's number; -EBUSY if the program has one. System calls that
 * the kernel can restart are; the handler runs on the alternate stack if the thread has one.
 * nsc_sys_tick_start() starts a timer for the calling thread and returns its number or a negative
 * errno (-EAGAIN: RLIMIT_SIGPENDING). It outlives its thread.
 */
int nsc_sys_take_ticks(void (*tick)(uint64_t value, int timer));
int nsc_sys_tick_start(uint64_t interval_ns, uint64_t value);
void nsc_sys_tick_stop(int timer);

/* Of the calling thread, since it began. */
struct nsc_sys_usage {
    uint64_t cpu_ns, faults_major, faults_minor, switches;
};
void nsc_sys_usage(struct nsc_sys_usage *to);

/* Whether the program runs with rights that its caller lacks (setuid and the like), or whether that
 * cannot be found out. */
int nsc_sys_privileged(void);
/* Whether real, effective and saved ids of user or group differ. */
int nsc_sys_ids_differ(void);

/**
 * nsc_sys_map_path - path of the file that is mapped at @address.
 * @to: at least @bytes; receives a NUL-terminated path, empty if there is none or it does not fit.
 */
void nsc_sys_map_path(uintptr_t address, char *to, size_t bytes);

#endif
