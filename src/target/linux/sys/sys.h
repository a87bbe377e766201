/*
 * sys.h - operating system services for the traced program: raw system calls. No libc, no errno, no
 * allocation. Implemented by sys.c, socket.c, spawn.c and thread_timer.c.
 */
#ifndef NSC_LINUX_SYS_SYS_H
#define NSC_LINUX_SYS_SYS_H

#include <stddef.h>
#include <stdint.h>

/* Functions that return int or long return a negative errno on failure. Context: any. */

int nsc_sys_open(const char *path, int writable); /* close-on-exec, O_NOCTTY */
void nsc_sys_close(int fd);
long nsc_sys_read(int fd, void *to, size_t bytes); /* restarts after EINTR; 0 = end of file */
int64_t nsc_sys_size(int fd);
long nsc_sys_read_at(int fd, void *to, size_t bytes, uint64_t offset);
long nsc_sys_write_at(int fd, const void *from, size_t bytes, uint64_t offset);

/* Functions that map memory return NULL on failure. */
void *nsc_sys_map_shared(int fd, size_t bytes); /* excluded from core dumps */
/* As nsc_sys_map_shared(), but below the address @limit if there is room. @limit NULL: anywhere. */
void *nsc_sys_map_shared_below(int fd, size_t bytes, const void *limit);
void *nsc_sys_map_private(size_t bytes);   /* zeros; uses no memory until it is touched */
void nsc_sys_dump(void *at, size_t bytes); /* include in core dumps again */
void nsc_sys_unmap(void *at, size_t bytes);
void nsc_sys_map_zeros_over(void *at, size_t bytes); /* replaces the mapping there */
void nsc_sys_discard(void *at, size_t bytes);        /* private memory reads zero again */
/* Map memory for code at exactly this address: zeros, readable and executable, never writable.
 * -EEXIST: the address is in use. */
int nsc_sys_map_code(uint64_t at, size_t bytes);
int nsc_sys_is_mapped(uint64_t at); /* 1 if @at, which may be any address, is mapped */
/* Return the address range that is reserved for growth of the main thread's stack. Returns 0 or
 * -1. */
int nsc_sys_main_stack(uint64_t *start, uint64_t *end);
void nsc_sys_map_pages(void *at, size_t bytes);   /* prefaults pages, if the kernel can */
int nsc_sys_wipe_on_fork(void *at, size_t bytes); /* forked children read zeros there */

enum { NSC_SYS_READ = 1, NSC_SYS_WRITE = 2, NSC_SYS_EXEC = 4 };
int nsc_sys_protect(void *at, size_t bytes, int protection);
size_t nsc_sys_page_bytes(void);
int nsc_sys_address_space_limited(void); /* returns 1 if RLIMIT_AS is set */

uint32_t nsc_sys_pid(void);
uint32_t nsc_sys_tid(void);
/* Return process and thread id as seen in the pid namespace of the mounted /proc. They differ from
 * the ids above if this process is in another pid namespace. Returns 0 or -1. */
int nsc_sys_ids_in_proc(uint32_t *pid, uint32_t *tid);
void nsc_sys_thread_name(char name[16]); /* all zeros if it is not available */
void nsc_sys_sleep_ns(uint32_t ns);      /* less than one second; may return early */

/* Return 1 if the process exists in this pid namespace and has not ended. A zombie counts as
 * ended. */
int nsc_sys_process_lives(uint32_t pid);

/* Return 1 if the thread is known to have ended, in this pid namespace; 0 if it lives or is not
 * known. */
int nsc_sys_thread_ended(uint32_t pid, uint32_t tid);

/* Block all signals of this thread; returns the previous mask, for nsc_sys_set_signals(). */
uint64_t nsc_sys_block_signals(void);
void nsc_sys_set_signals(uint64_t mask);

/* Make all threads of the process refetch the code that they execute, before this returns. Takes 10
 * to 20 ms for the first call in a process, then one microsecond. -ENOSYS: the kernel cannot do
 * it. */
int nsc_sys_sync_cores(void);

/**
 * nsc_sys_open_memory - open the memory file of a session, by a path from an untrusted source.
 * @inode: the file's inode number, or NULL.
 * Accepts only an unlinked regular file that belongs to the effective user or root. Other files are
 * not opened, because opening a device or a FIFO has side effects.
 * Returns a descriptor, -EPERM (not such a file), or another negative errno.
 */
int nsc_sys_open_memory(const char *path, const uint64_t *inode);

/* Create an empty memory file that can be sealed, close-on-exec. Its descriptor number is high, see
 * nsc_sys_raise_fd(). */
int nsc_sys_memory_file(void);

/* Create a pipe, close-on-exec, with high descriptor numbers. Returns 0 or a negative errno. */
int nsc_sys_pipe(int *reads, int *writes);
/* Wait for input or end of file. Returns 1, 0 after @ms milliseconds, or a negative errno. */
int nsc_sys_readable(int fd, uint32_t ms);

/**
 * nsc_sys_spawn - start a program that is not a child of this process. It shares nothing with it
 * except the working directory and standard error.
 * @named: file to try first, from the environment; NULL: none. If the effective user is root, the
 *         file and its folder must belong to root and must not be writable by others.
 * @paths: files to try next, ending with NULL.
 * @argv, @environment: as for execve().
 * @fds:   descriptors that the program gets as 3 and 4.
 * Returns 0, -ENOENT if none of @paths exists, or another negative errno.
 */
int nsc_sys_spawn(const char *named, const char *const *paths, const char *const *argv,
                  const char *const *environment, const int fds[2]);

/* Move @fd to a high number and return that; returns @fd itself if this fails. Programs rely on
 * getting the lowest free number. */
int nsc_sys_raise_fd(int fd);

uint32_t nsc_sys_uid(void); /* effective user id */
void nsc_sys_set_thread_name(const char *name);

int nsc_sys_open_link(const char *path); /* opens a link itself (O_PATH), not its target */
int nsc_sys_read_link(int fd, char *to, size_t bytes); /* target of such a link */
int nsc_sys_owner(int fd, uint32_t *uid);
/* Return 1 if @fd is an unlinked regular file of the effective user or root, with the number @inode
 * (NULL: any). */
int nsc_sys_is_own_memory(int fd, const uint64_t *inode);
void nsc_sys_remove(const char *path);

void nsc_sys_make_directory(const char *path); /* mode 0700; does nothing if @path exists */
/* Return 0 if @path is a directory of @uid with no access for others, and not a link; -ENOENT: it
 * does not exist. */
int nsc_sys_own_directory(const char *path, uint32_t uid);

/* Local sockets that preserve message boundaries (SOCK_SEQPACKET). No call blocks. */
int nsc_sys_listen(const char *path);   /* access for this user only; replaces an existing file */
int nsc_sys_connect(const char *path);  /* -EAGAIN: the listener's queue is full */
uint64_t nsc_sys_socket_cookie(int fd); /* unique id of a socket, never reused; 0: not a socket */
int nsc_sys_accept(int fd, uint32_t *uid); /* @uid: user id of the peer */
/* Receive a message of exactly @bytes with at most one descriptor, else -EPROTO. @passed: that
 * descriptor, or negative. The caller must close it, also on failure. */
int nsc_sys_receive(int fd, void *to, size_t bytes, int *passed);
long nsc_sys_send(int fd, const void *from, size_t bytes); /* @bytes or -errno */

/* State of the other threads of this process. */
enum nsc_sys_others {
    NSC_SYS_OTHERS_RUN,
    NSC_SYS_OTHERS_WITHOUT_FIRST, /* the main thread has ended */
    NSC_SYS_OTHERS_OVER,
};
enum nsc_sys_others nsc_sys_other_threads(void);

/*
 * Thread timers: a signal after each interval of a thread's CPU time. For linux/session/cpu_timer.c
 * and linux/events/cpu_sampler.c only.
 *
 * nsc_sys_take_ticks() installs a handler of SIGURG, permanently. The handler calls @tick with the
 * value given to nsc_sys_tick_start(), and the timer's number. -EBUSY: the program has a handler of
 * its own. Interrupted system calls are restarted where the kernel can. The handler runs on the
 * thread's alternate stack if there is one.
 *
 * nsc_sys_tick_start() starts a timer for the calling thread. It returns the timer's number or a
 * negative errno (-EAGAIN: RLIMIT_SIGPENDING). The timer outlives its thread.
 */
int nsc_sys_take_ticks(void (*tick)(uint64_t value, int timer));
int nsc_sys_tick_start(uint64_t interval_ns, uint64_t value);
void nsc_sys_tick_stop(int timer);

/* Resource usage of the calling thread, since its start. */
struct nsc_sys_usage {
    uint64_t cpu_ns, faults_major, faults_minor, switches;
};
void nsc_sys_usage(struct nsc_sys_usage *to);

/* Return 1 if the program has privileges that its caller lacks (setuid and the like), or if that is
 * unknown. */
int nsc_sys_privileged(void);
/* Return 1 if the real, effective and saved ids of the user, or of the group, differ. */
int nsc_sys_ids_differ(void);

/**
 * nsc_sys_map_path - return the path of the file that is mapped at @address.
 * @to: at least @bytes; receives a NUL-terminated path, empty if there is none or it does not fit.
 */
void nsc_sys_map_path(uintptr_t address, char *to, size_t bytes);

#endif
