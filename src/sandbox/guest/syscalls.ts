// The numbers of the kernel's calls, frozen here: they never change once given, and reading the headers of the machine
// would make the filter depend on it. A test compares them with the headers where there are some.

export type Architecture = "x64" | "arm64";

/** As the kernel names the architecture of a call. */
export const auditNumbers: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** What was looked at. A call of a newer kernel has a higher number and does not exist for a guest until it was, too. */
export const reviewedMax = 456;

type Numbers = Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>>;

/** Programs inside get EPERM: what reaches into the host, other processes or seldom used corners of the kernel. */
export const refused: Numbers = {
  // Mounts and roots.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  // Namespaces.
  unshare: [272, 97],
  setns: [308, 268],
  // Wide doors into the kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  seccomp: [317, 277],
  personality: [135, 92],
  memfd_secret: [447, 447],
  // Requests of this kind are counted for the whole machine: one guest could take them all.
  io_setup: [206, 0],
  io_destroy: [207, 1],
  io_submit: [209, 2],
  io_cancel: [210, 3],
  io_getevents: [208, 4],
  io_pgetevents: [333, 292],
  // The machine itself.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  // Files past their paths, watching all files, special files. Without mknod no pipe waits for a reader in outputs/.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  mknod: [133, undefined],
  mknodat: [259, 33],
  // Which memory of the machine is used.
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  get_mempolicy: [239, 236],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  set_mempolicy_home_node: [450, 450],
  // Obsolete.
  create_module: [174, undefined],
  get_kernel_syms: [177, undefined],
  query_module: [178, undefined],
  uselib: [134, undefined],
  ustat: [136, undefined],
  sysfs: [139, undefined],
  _sysctl: [156, undefined],
  nfsservctl: [180, 42],
  getpmsg: [181, undefined],
  putpmsg: [182, undefined],
  afs_syscall: [183, undefined],
  tuxcall: [184, undefined],
  security: [185, undefined],
  lookup_dcookie: [212, 18],
  epoll_ctl_old: [214, undefined],
  epoll_wait_old: [215, undefined],
  remap_file_pages: [216, 234],
  vserver: [236, undefined],
};

/** Programs inside get ENOSYS. A libc that is told so makes threads with `clone`, whose flags the filter can see. */
export const absent: Numbers = { clone3: [435, 435] };

/**
 * Programs inside get EOPNOTSUPP, as on disks that do not have it: libc writes instead. Room that is set aside takes no
 * time, so the disk would be full before anybody looks.
 */
export const unsupported: Numbers = { fallocate: [285, 47] };

/** Numbers up to `reviewedMax` that no call has, first and last. */
export const unassigned: Readonly<Record<Architecture, readonly (readonly [number, number])[]>> = {
  x64: [[335, 423]],
  arm64: [
    [244, 259],
    [295, 423],
  ],
};

/** Calls that depend on what is asked. */
export const judged = {
  clone: [56, 220],
  prlimit64: [302, 261],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
} satisfies Numbers;
