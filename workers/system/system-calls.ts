/** On x64 and on arm64; null where an architecture has no such call. */
export type CallNumber = readonly [number | null, number | null];

/**
 * Numbers of Linux's system calls, from arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
 * The groups say what the filter of `seccomp-filter.ts` does with them.
 */
// prettier-ignore
export const callGroups = {
  /** Own memory. */
  memory: {
    brk: [12, 214], mmap: [9, 222], munmap: [11, 215], mprotect: [10, 226], mremap: [25, 216], madvise: [28, 233],
    msync: [26, 227], mincore: [27, 232], mlock: [149, 228], munlock: [150, 229], mlock2: [325, 284],
    mlockall: [151, 230], munlockall: [152, 231], membarrier: [324, 283], memfd_create: [319, 279],
    pkey_mprotect: [329, 288], pkey_alloc: [330, 289], pkey_free: [331, 290], mbind: [237, 235],
    set_mempolicy: [238, 237], get_mempolicy: [239, 236],
  },
  /**
   * Files, by descriptors and by paths, which Landlock limits. Calls that Landlock does not limit (owners, rights,
   * times, attributes) are missing.
   */
  files: {
    read: [0, 63], write: [1, 64], readv: [19, 65], writev: [20, 66], pread64: [17, 67], pwrite64: [18, 68],
    preadv: [295, 69], pwritev: [296, 70], preadv2: [327, 286], pwritev2: [328, 287], lseek: [8, 62], open: [2, null],
    openat: [257, 56], openat2: [437, 437], creat: [85, null], close: [3, 57], close_range: [436, 436], dup: [32, 23],
    dup2: [33, null], dup3: [292, 24], pipe: [22, null], pipe2: [293, 59], flock: [73, 32], fsync: [74, 82],
    fdatasync: [75, 83], sync_file_range: [277, 84], fallocate: [285, 47], ftruncate: [77, 46], truncate: [76, 45],
    stat: [4, null], fstat: [5, 80], lstat: [6, null], newfstatat: [262, 79], statx: [332, 291], statfs: [137, 43],
    fstatfs: [138, 44], access: [21, null], faccessat: [269, 48], faccessat2: [439, 439], readlink: [89, null],
    readlinkat: [267, 78], getdents: [78, null], getdents64: [217, 61], getcwd: [79, 17], chdir: [80, 49],
    fchdir: [81, 50], rename: [82, null], renameat: [264, 38], renameat2: [316, 276], mkdir: [83, null],
    mkdirat: [258, 34], rmdir: [84, null], link: [86, null], linkat: [265, 37], unlink: [87, null],
    unlinkat: [263, 35], symlink: [88, null], symlinkat: [266, 36], umask: [95, 166], sendfile: [40, 71],
    copy_file_range: [326, 285], splice: [275, 76], tee: [276, 77], vmsplice: [278, 75], readahead: [187, 213],
    fadvise64: [221, 223],
  },
  waiting: {
    poll: [7, null], ppoll: [271, 73], select: [23, null], pselect6: [270, 72], epoll_create: [213, null],
    epoll_create1: [291, 20], epoll_ctl: [233, 21], epoll_wait: [232, null], epoll_pwait: [281, 22],
    epoll_pwait2: [441, 441], eventfd: [284, null], eventfd2: [290, 19], timerfd_create: [283, 85],
    timerfd_settime: [286, 86], timerfd_gettime: [287, 87], signalfd: [282, null], signalfd4: [289, 74],
    nanosleep: [35, 101], clock_nanosleep: [230, 115], clock_gettime: [228, 113], clock_getres: [229, 114],
    gettimeofday: [96, 169], time: [201, null], times: [100, 153], getitimer: [36, 102], setitimer: [38, 103],
    alarm: [37, null], timer_create: [222, 107], timer_settime: [223, 110], timer_gettime: [224, 108],
    timer_getoverrun: [225, 109], timer_delete: [226, 111], restart_syscall: [219, 128], pause: [34, null],
    wait4: [61, 260], waitid: [247, 95],
  },
  threads: {
    set_tid_address: [218, 96], set_robust_list: [273, 99], rseq: [334, 293], futex: [202, 98],
    futex_waitv: [449, 449], futex_wait: [455, 455], futex_wake: [454, 454], futex_requeue: [456, 456],
    gettid: [186, 178], getpid: [39, 172], getppid: [110, 173], exit: [60, 93], exit_group: [231, 94],
    sched_yield: [24, 124], sched_getaffinity: [204, 123], sched_getparam: [143, 121], sched_getscheduler: [145, 120],
    sched_getattr: [315, 275], sched_get_priority_max: [146, 125], sched_get_priority_min: [147, 126],
    getcpu: [309, 168], arch_prctl: [158, null], prctl: [157, 167], rt_sigaction: [13, 134],
    rt_sigprocmask: [14, 135], rt_sigreturn: [15, 139], sigaltstack: [131, 132], rt_sigpending: [127, 136],
    rt_sigtimedwait: [128, 137], rt_sigsuspend: [130, 133],
  },
  /** What they tell is harmless, and what they set can only be stricter. */
  facts: {
    getuid: [102, 174], geteuid: [107, 175], getgid: [104, 176], getegid: [108, 177], getgroups: [115, 158],
    getresuid: [118, 148], getresgid: [120, 150], capget: [125, 90], uname: [63, 160], sysinfo: [99, 179],
    getrlimit: [97, 163], setrlimit: [160, 164], getrusage: [98, 165], getpgid: [121, 155], getpgrp: [111, null],
    getsid: [124, 156], getpriority: [140, 141], getrandom: [318, 278], seccomp: [317, 277],
    landlock_create_ruleset: [444, 444], landlock_add_rule: [445, 445], landlock_restrict_self: [446, 446],
  },
  /** Of sockets that the process could create. */
  sockets: {
    socketpair: [53, 199], connect: [42, 203], bind: [49, 200], listen: [50, 201], accept: [43, 202],
    accept4: [288, 242], getsockname: [51, 204], getpeername: [52, 205], getsockopt: [55, 209], setsockopt: [54, 208],
    sendto: [44, 206], recvfrom: [45, 207], sendmsg: [46, 211], recvmsg: [47, 212], sendmmsg: [307, 269],
    recvmmsg: [299, 243], shutdown: [48, 210],
  },
  /** Allowed or refused by their arguments. */
  judged: {
    fcntl: [72, 25], ioctl: [16, 29], fchmod: [91, 52], utimensat: [280, 88], socket: [41, 198], clone: [56, 220],
    clone3: [435, 435], prlimit64: [302, 261], setpriority: [141, 140], sched_setaffinity: [203, 122],
    kill: [62, 129], tgkill: [234, 131], fork: [57, null], vfork: [58, null], execve: [59, 221], execveat: [322, 281],
  },
  /**
   * Ways to reach other processes, the kernel's keys and mounts; io_uring would bypass the filter. No project needs
   * them.
   */
  neverAllowed: {
    ptrace: [101, 117], process_vm_readv: [310, 270], process_vm_writev: [311, 271], pidfd_getfd: [438, 438],
    mount: [165, 40], umount2: [166, 39], unshare: [272, 97], setns: [308, 268], add_key: [248, 217],
    request_key: [249, 218], keyctl: [250, 219], bpf: [321, 280], perf_event_open: [298, 241],
    open_by_handle_at: [304, 265], io_uring_setup: [425, 425], io_uring_enter: [426, 426],
    io_uring_register: [427, 427], process_madvise: [440, 440], move_pages: [279, 239], migrate_pages: [256, 238],
    kcmp: [312, 272], tkill: [200, 130], rt_sigqueueinfo: [129, 138], rt_tgsigqueueinfo: [297, 240],
    pidfd_send_signal: [424, 424],
  },
} as const;

export type JudgedCall = keyof typeof callGroups.judged;
