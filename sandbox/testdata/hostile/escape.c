// Tries to leave the box or to see the host, in one way. Prints a line for each
// attempt that says how it ended: "mount: EPERM", or "mount: worked".
// Usage: escape WAY [ARGUMENT]...
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **args; // what follows the way; ends with NULL

// ended prints how an attempt ended that returned r and may have set errno.
static int ended(const char *what, long r) {
	printf("%s: %s\n", what, r >= 0 ? "worked" : strerrorname_np(errno));
	return r >= 0;
}

// call makes a system call of which errno is all that matters.
static void call(const char *what, long number, long a, long b, long c, long d) { ended(what, syscall(number, a, b, c, d, 0, 0)); }

// listed returns the name of something in the folder fd, NULL if there is nothing or
// it cannot be listed, with errno.
static const char *listed(int fd) {
	DIR *d = fdopendir(fd);
	struct dirent *e;
	errno = 0;
	while (d != NULL && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..")) return e->d_name;
	return NULL;
}

// opened tries to open a path, and says what is there if that worked. What can be
// opened for reading must also be readable: some files of /proc ask only then.
static void opened(const char *path, int flags) {
	struct stat st;
	char text[64] = {0};
	const char *name;
	int fd = open(path, flags | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0) {
		ended(path, fd);
	} else if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
		printf("%s: masked\n", path);
	} else if (flags & O_WRONLY) {
		ended(path, fd);
	} else if (!S_ISDIR(st.st_mode)) {
		long n = read(fd, text, sizeof text - 1);
		if (ended(path, n) && n > 0) printf("it holds %s\n", text);
	} else if ((name = listed(fd)) != NULL) {
		printf("%s: worked\nit holds %s\n", path, name);
	} else if (errno == 0) {
		printf("%s: empty\n", path);
	} else {
		ended(path, -1);
	}
	if (fd >= 0) close(fd);
}

static void reading(void) {
	for (; *args != NULL; args++) opened(*args, O_RDONLY);
}

static void writing(void) {
	for (; *args != NULL; args++) opened(*args, O_WRONLY);
}

static void creating(void) {
	char path[4096], what[4200];
	for (; *args != NULL; args++) {
		snprintf(path, sizeof path, "%s/planted", *args);
		opened(path, O_WRONLY | O_CREAT);
		snprintf(what, sizeof what, "%s as a folder", path);
		ended(what, mkdir(path, 0700));
		snprintf(what, sizeof what, "%s as a link", path);
		ended(what, symlink("/", path));
	}
}

static void changing(void) {
	char what[4200], path[4200];
	for (; *args != NULL; args++) {
		snprintf(what, sizeof what, "remove %s", *args);
		ended(what, unlink(*args));
		snprintf(what, sizeof what, "rename %s", *args);
		snprintf(path, sizeof path, "%s-planted", *args);
		ended(what, rename(*args, path));
		snprintf(what, sizeof what, "truncate %s", *args);
		ended(what, truncate(*args, 0));
		snprintf(what, sizeof what, "open up %s", *args);
		ended(what, chmod(*args, 0777));
		snprintf(what, sizeof what, "own %s", *args);
		ended(what, chown(*args, getuid(), getgid()));
	}
}

// plant leaves things at paths that the judge may read or write by name. The
// arguments are a file and a folder of the host.
static void plant(void) {
	ended("link to a file", symlink(args[0], "link"));
	ended("link to a folder", symlink(args[1], "folder"));
	ended("link to a root", symlink("/proc/1/root", "root"));
	ended("pipe", mkfifo("pipe", 0600));
	ended("device", mknod("device", S_IFCHR | 0600, makedev(1, 5)));
	ended("closed folder", mkdir("closed", 0700));
	int fd = open("closed/file", O_CREAT | O_WRONLY, 0600);
	ended("file in it", write(fd, "mine", 4));
	ended("close it", chmod("closed", 0));
	fd = open("plain", O_CREAT | O_WRONLY, 0600);
	ended("plain file", write(fd, "plain", 5));
	ended("second name", link("plain", "hard"));
	fd = open("set-user-id", O_CREAT | O_WRONLY, 0600);
	ended("program", write(fd, "x", 1));
	ended("set-user-id", chmod("set-user-id", 06755));
}

static void trace(void) {
	for (; *args != NULL; args++) {
		pid_t pid = atoi(*args);
		ended("attach", ptrace(PTRACE_ATTACH, pid, NULL, NULL));
		ended("seize", ptrace(PTRACE_SEIZE, pid, NULL, NULL));
	}
	ended("attach to the parent", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	ended("be traced", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static void memory_of_others(void) {
	char buf[16], path[64];
	struct iovec v = {buf, sizeof buf};
	DIR *d = opendir("/proc");
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		int pid = atoi(e->d_name);
		if (pid == 0 || pid == getpid()) continue;
		for (const char **file = (const char *[]){"mem", "maps", "syscall", "stack", NULL}; *file != NULL; file++) {
			snprintf(path, sizeof path, "/proc/%d/%s", pid, *file);
			opened(path, O_RDONLY);
		}
		ended("read its memory", process_vm_readv(pid, &v, 1, &v, 1, 0));
		ended("write its memory", process_vm_writev(pid, &v, 1, &v, 1, 0));
	}
	opened("/proc/self/mem", O_WRONLY);
	int fd = (int)syscall(SYS_pidfd_open, 1, 0);
	call("take its descriptor", SYS_pidfd_getfd, fd, 0, 0, 0);
	call("compare with it", SYS_kcmp, getpid(), 1, 0, 0);
}

static void signals(void) {
	char what[64];
	for (; *args != NULL; args++) {
		snprintf(what, sizeof what, "kill %s", *args);
		ended(what, kill(atoi(*args), SIGKILL));
	}
}

static void devices(void) {
	ended("a disk", mknod("/tmp/disk", S_IFBLK | 0600, makedev(254, 0)));
	ended("memory", mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)));
	ended("a terminal", mknod("/dev/shm/tty", S_IFCHR | 0600, makedev(5, 0)));
	DIR *d = opendir("/dev");
	const char *known = " . .. fd full null random shm stderr stdin stdout urandom zero ";
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		char name[300];
		snprintf(name, sizeof name, " %s ", e->d_name);
		if (strstr(known, name) == NULL) printf("/dev/%s: worked\n", e->d_name);
	}
}

static void mounts(void) {
	ended("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	ended("mount /proc", mount("proc", "/tmp", "proc", 0, NULL));
	ended("bind", mount("/usr", "/tmp", NULL, MS_BIND, NULL));
	ended("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
	ended("share", mount(NULL, "/", NULL, MS_SHARED | MS_REC, NULL));
	ended("umount", umount2("/proc", MNT_DETACH));
	call("fsopen", SYS_fsopen, (long)"tmpfs", 0, 0, 0);
	call("open_tree", SYS_open_tree, AT_FDCWD, (long)"/", 1, 0);
	call("move_mount", SYS_move_mount, -1, (long)"", AT_FDCWD, (long)"/tmp");
	call("mount_setattr", SYS_mount_setattr, AT_FDCWD, (long)"/", 0, 0);
	call("fspick", SYS_fspick, AT_FDCWD, (long)"/", 0, 0);
	call("pivot_root", SYS_pivot_root, (long)"/", (long)"/tmp", 0, 0);
}

static void namespaces(void) {
	static const struct {
		const char *name;
		int flag;
	} kinds[] = {{"user", CLONE_NEWUSER}, {"mount", CLONE_NEWNS},  {"pid", CLONE_NEWPID},      {"network", CLONE_NEWNET},
				 {"ipc", CLONE_NEWIPC},   {"uts", CLONE_NEWUTS}, {"cgroup", CLONE_NEWCGROUP}, {"user and mount", CLONE_NEWUSER | CLONE_NEWNS}};
	char what[64];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(what, sizeof what, "clone %s", kinds[i].name);
		call(what, SYS_clone, kinds[i].flag | SIGCHLD, 0, 0, 0);
		snprintf(what, sizeof what, "unshare %s", kinds[i].name);
		ended(what, unshare(kinds[i].flag));
	}
	ended("join", setns(open("/proc/self/ns/net", O_RDONLY), 0));
	call("clone3", SYS_clone3, 0, 0, 0, 0);
}

// chrooted tries the old way out of a changed root: change it once more and walk
// up. Then it walks up without.
static void chrooted(void) {
	struct stat root, up;
	mkdir("/tmp/cell", 0700);
	ended("chroot", chroot("/tmp/cell"));
	stat("/", &root);
	for (int i = 0; i < 64; i++)
		if (chdir("..") != 0) break;
	stat(".", &up);
	ended("walk up", (up.st_ino != root.st_ino || up.st_dev != root.st_dev) ? 0 : (errno = ELOOP, -1));
	for (int fd = 3; fd < 256; fd++)
		if (fchdir(fd) == 0) ended("an open folder", 0);
	rmdir("/tmp/cell");
}

// identity says who this is when that is anybody else than it should be.
static void identity(void) {
	uid_t r, e, s;
	gid_t groups[8];
	getresuid(&r, &e, &s);
	ended("to be root", r == 0 || e == 0 || s == 0 ? 0 : (errno = EPERM, -1));
	getresgid(&r, &e, &s);
	ended("to be in root's group", r == 0 || e == 0 || s == 0 ? 0 : (errno = EPERM, -1));
	ended("to have more groups", getgroups(8, groups) != 0 ? 0 : (errno = EPERM, -1));
	ended("setuid", setuid(0));
	ended("setgid", setgid(0));
	ended("setresuid", setresuid(-1, 0, -1));
	ended("setgroups", setgroups(1, (gid_t[]){0}));
}

// set_user_id executes a program that belongs to root and has the set-user-id
// bit, which is this one.
static void set_user_id(void) {
	execl(args[0], args[0], "identity", (char *)NULL);
	ended("execute", -1);
}

// credentials prints what /proc says that this process may do.
static void credentials(void) {
	FILE *f = fopen("/proc/self/status", "r");
	char line[4096], name[64], value[64];
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%63[^:]: %63s", name, value) == 2 &&
			(!strncmp(name, "Cap", 3) || !strcmp(name, "NoNewPrivs") || !strcmp(name, "Seccomp") || !strcmp(name, "Groups")))
			printf("%s %s\n", name, value);
}

static void connected(const char *what, int type, const void *addr, socklen_t n) {
	int s = socket(((const struct sockaddr *)addr)->sa_family, type, 0);
	if (s < 0) {
		ended(what, -1);
		return;
	}
	struct timeval patience = {.tv_sec = 2};
	setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	int r = connect(s, addr, n);
	if (r == 0 && type == SOCK_DGRAM) r = send(s, "x", 1, 0) == 1 ? 0 : -1;
	ended(what, r);
	close(s);
}

// inet connects to addresses, each followed by a port.
static void inet(int type) {
	for (; args[0] != NULL && args[1] != NULL; args += 2) {
		struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(atoi(args[1]))};
		struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(atoi(args[1]))};
		if (inet_pton(AF_INET, args[0], &in.sin_addr) == 1) connected(args[0], type, &in, sizeof in);
		else if (inet_pton(AF_INET6, args[0], &in6.sin6_addr) == 1) connected(args[0], type, &in6, sizeof in6);
		else exit(2);
	}
}

static void tcp(void) { inet(SOCK_STREAM); }
static void udp(void) { inet(SOCK_DGRAM); }

// named connects to sockets in the file system, or with @ to abstract ones.
static void named(void) {
	for (; *args != NULL; args++) {
		struct sockaddr_un un = {.sun_family = AF_UNIX};
		size_t n = strlen(*args);
		memcpy(un.sun_path, *args, n);
		if (**args == '@') un.sun_path[0] = 0;
		for (const int *type = (int[]){SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM, 0}; *type != 0; type++)
			connected(*args, *type, &un, (socklen_t)(sizeof(sa_family_t) + n));
	}
}

static void listening(void) {
	struct sockaddr_in in = {.sin_family = AF_INET};
	int s = socket(AF_INET, SOCK_STREAM, 0);
	ended("bind", s < 0 ? s : bind(s, (struct sockaddr *)&in, sizeof in));
}

static void families(void) {
	static const struct {
		const char *name;
		int family, type;
	} kinds[] = {{"netlink", AF_NETLINK, SOCK_RAW}, {"packet", AF_PACKET, SOCK_RAW}, {"alg", AF_ALG, SOCK_SEQPACKET}, {"bluetooth", AF_BLUETOOTH, SOCK_RAW},
				 {"can", AF_CAN, SOCK_RAW},         {"tipc", AF_TIPC, SOCK_SEQPACKET}, {"rds", AF_RDS, SOCK_SEQPACKET}, {"xdp", AF_XDP, SOCK_RAW},
				 {"kcm", AF_KCM, SOCK_DGRAM},       {"smc", AF_SMC, SOCK_STREAM},      {"qipcrtr", AF_QIPCRTR, SOCK_DGRAM}};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) ended(kinds[i].name, socket(kinds[i].family, kinds[i].type, 0));
}

static void vsock(void) {
	ended("stream", socket(AF_VSOCK, SOCK_STREAM, 0));
	ended("datagram", socket(AF_VSOCK, SOCK_DGRAM, 0));
	ended("pair", socketpair(AF_VSOCK, SOCK_STREAM, 0, (int[2]){0}));
	opened("/dev/vsock", O_RDONLY);
}

static void raw(void) {
	ended("icmp", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	ended("icmp 6", socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6));
	ended("any", socket(AF_INET, SOCK_RAW, IPPROTO_RAW));
}

// network prints every line that /proc/net has beyond the heads of its tables.
static void network(void) {
	const char *tables[] = {"unix", "tcp", "tcp6", "udp", "udp6", "route", "arp", NULL};
	char path[64], line[4096];
	for (int i = 0; tables[i] != NULL; i++) {
		snprintf(path, sizeof path, "/proc/self/net/%s", tables[i]);
		FILE *f = fopen(path, "r");
		for (int n = 0; f != NULL && fgets(line, sizeof line, f) != NULL; n++)
			if (n > 0) printf("%s: worked: %s", tables[i], line);
		if (f != NULL) fclose(f);
	}
}

static void keys(void) {
	call("session keyring", SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1, 0);
	call("user keyring", SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0, 0);
	call("join a session", SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0);
	ended("add", syscall(SYS_add_key, "user", "x", "y", 1L, (long)KEY_SPEC_PROCESS_KEYRING));
	call("request", SYS_request_key, (long)"user", (long)"x", 0, KEY_SPEC_PROCESS_KEYRING);
}

static void io_uring(void) {
	struct io_uring_params p = {0};
	call("set up", SYS_io_uring_setup, 4, (long)&p, 0, 0);
	call("enter", SYS_io_uring_enter, -1, 0, 0, 0);
	call("register", SYS_io_uring_register, -1, 0, 0, 0);
}

static void bpf(void) {
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	call("map", SYS_bpf, BPF_MAP_CREATE, (long)&map, sizeof map, 0);
	struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K}, {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr prog = {.prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = 2, .insns = (__u64)code, .license = (__u64) "GPL"};
	call("program", SYS_bpf, BPF_PROG_LOAD, (long)&prog, sizeof prog, 0);
}

static void perf(void) {
	struct perf_event_attr e = {.type = PERF_TYPE_SOFTWARE, .size = sizeof e, .exclude_kernel = 1};
	ended("of itself", syscall(SYS_perf_event_open, &e, 0L, -1L, -1L, 0L));
	ended("of the machine", syscall(SYS_perf_event_open, &e, -1L, 0L, -1L, 0L));
}

static void userfaultfd(void) {
	call("of user mode", SYS_userfaultfd, 1, 0, 0, 0);
	call("of the kernel", SYS_userfaultfd, 0, 0, 0, 0);
	opened("/dev/userfaultfd", O_RDONLY);
}

static void handles(void) {
	struct {
		struct file_handle h;
		char room[128];
	} f = {.h.handle_bytes = 128};
	int mount;
	ended("name a file by number", name_to_handle_at(AT_FDCWD, "/usr", &f.h, &mount, 0));
	ended("open by number", open_by_handle_at(AT_FDCWD, &f.h, O_RDONLY));
}

static void machine(void) {
	char buf[64];
	ended("reboot", reboot(RB_DISABLE_CAD));
	ended("swapon", swapon("/dev/sda", 0));
	ended("swapoff", swapoff("/dev/sda"));
	ended("host name", sethostname("x", 1));
	ended("domain name", setdomainname("x", 1));
	ended("set the clock", settimeofday(&(struct timeval){0}, NULL));
	ended("set another clock", clock_settime(CLOCK_REALTIME, &(struct timespec){0}));
	call("kernel log", SYS_syslog, 3, (long)buf, sizeof buf, 0);
	call("load a module", SYS_init_module, (long)buf, 0, (long)"", 0);
	call("load a module file", SYS_finit_module, -1, (long)"", 0, 0);
	call("remove a module", SYS_delete_module, (long)"x", 0, 0, 0);
	call("another kernel", SYS_kexec_load, 0, 0, 0, 0);
	call("accounting", SYS_acct, 0, 0, 0, 0);
	call("quota", SYS_quotactl, 0, 0, 0, 0);
	call("watch all files", SYS_fanotify_init, 0, 0, 0, 0);
	call("secret memory", 447 /* memfd_secret */, 0, 0, 0, 0);
	call("ports", SYS_ioperm, 0x80, 1, 1, 0);
	call("all ports", SYS_iopl, 3, 0, 0, 0);
	call("hang up", SYS_vhangup, 0, 0, 0, 0);
	unsigned long all = ~0UL;
	call("choose cores", SYS_sched_setaffinity, 0, sizeof all, (long)&all, 0);
	ended("go first", sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}));
}

static void system_v(void) {
	ended("shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	ended("shared memory by key", shmget(0x4a4a, 4096, IPC_CREAT | 0600));
	ended("semaphores", semget(0x4a4a, 1, IPC_CREAT | 0600));
	ended("messages", msgget(0x4a4a, IPC_CREAT | 0600));
}

static void posix_queue(void) { call("open", SYS_mq_open, (long)"planted", O_CREAT | O_RDWR, 0600, 0); }

// A file of the host's that every box sees.
static int shared_file(void) { return open("/usr/bin/env", O_RDONLY); }

// watching asks to be told what others do with files.
static void watching(void) {
	call("inotify_init", SYS_inotify_init, 0, 0, 0, 0);
	call("inotify_init1", SYS_inotify_init1, 0, 0, 0, 0);
	call("inotify_add_watch", SYS_inotify_add_watch, 0, (long)"/usr/bin", 0x20, 0);
	call("inotify_rm_watch", SYS_inotify_rm_watch, 0, 1, 0, 0);
	call("fanotify_init", SYS_fanotify_init, 0, O_RDONLY, 0, 0);
	int folder = open("/usr/bin", O_RDONLY | O_DIRECTORY);
	call("dnotify", SYS_fcntl, folder, 1026 /* F_NOTIFY */, 1, 0);
	call("lease", SYS_fcntl, shared_file(), 1024 /* F_SETLEASE */, F_RDLCK, 0);
	call("asking for a lease", SYS_fcntl, shared_file(), 1025 /* F_GETLEASE */, 0, 0);
}

// caching throws a file out of the page cache, and asks whether it is in there.
static void caching(void) {
	int f = shared_file();
	for (int advice = 0; advice < 6; advice++) call("fadvise", SYS_fadvise64, f, 0, 0, advice);
	long range[2] = {0, 4096}, numbers[5];
	call("cachestat", 451, f, (long)range, (long)numbers, 0);
	char b[16];
	struct iovec v = {b, sizeof b};
	ended("preadv2", preadv2(f, &v, 1, 0, RWF_NOWAIT));
	ended("preadv2 at the offset", preadv2(f, &v, 1, -1, RWF_NOWAIT | RWF_HIPRI));
}

// hinting keeps a number with a file.
static void hinting(void) {
	unsigned long hint = 2;
	for (int command = 1035; command < 1039; command++) // F_GET_RW_HINT to F_SET_FILE_RW_HINT
		call("hint", SYS_fcntl, shared_file(), command, (long)&hint, 0);
}

// locked says whether somebody else still gets what was locked.
static void locked(const char *what, long first, long second) {
	if (first < 0 || (second < 0 && errno != EAGAIN)) ended(what, -1);
	else printf("%s: %s\n", what, second < 0 ? "kept" : "free");
}

// locking locks a file in each way that is exclusive, and asks who has.
static void locking(void) {
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const char *own = "/tmp/own";
	for (const char **file = (const char *[]){"/usr/bin/env", own, NULL}; *file != NULL; file++) {
		int flags = *file == own ? O_CREAT | O_RDWR : O_RDONLY, f = open(*file, flags, 0600), g = open(*file, flags, 0600);
		locked("flock", syscall(SYS_flock, f, 2 /* LOCK_EX */), syscall(SYS_flock, g, 2 | 4 /* LOCK_EX | LOCK_NB */));
		call("asking for a record lock", SYS_fcntl, f, F_GETLK, (long)&l, 0);
		call("asking for a lock of an open file", SYS_fcntl, f, F_OFD_GETLK, (long)&l, 0);
		if (*file != own) continue; // what cannot be written cannot be locked by these
		locked("lock of an open file", fcntl(f, F_OFD_SETLK, &l), fcntl(g, F_OFD_SETLK, &l));
		locked("waiting for a lock of an open file", fcntl(f, F_OFD_SETLKW, &l), fcntl(g, F_OFD_SETLK, &l));
	}
}

// touching changes the times of files that all boxes share.
static void touching(void) {
	for (const char **file = (const char *[]){"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/usr/bin/env", "/usr", NULL}; *file; file++)
		ended(*file, utimensat(AT_FDCWD, *file, NULL, 0));
}

// mounted prints what of the host is mounted here and can be written, or does not have
// the option that is asked for.
static void mounted(void) {
	char line[4096], path[4096], options[4096], kind[4096];
	FILE *f = fopen("/proc/self/mountinfo", "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *rest = strstr(line, " - ");
		if (rest == NULL || sscanf(line, "%*s %*s %*s %*s %4095s %4095s", path, options) != 2 || sscanf(rest, " - %4095s", kind) != 1) continue;
		if (!strcmp(kind, "proc") || (!strcmp(kind, "tmpfs") && strncmp(path, "/dev/", 5)) || !strcmp(path, "/dev/shm")) continue; // its own
		if (strncmp(options, "ro", 2) || (*args != NULL && strstr(options, *args) == NULL)) printf("%s %s %s\n", path, options, kind);
	}
	printf("that is all\n");
}

static void environment(void) {
	extern char **environ;
	for (char **e = environ; *e != NULL; e++) printf("%s\n", *e);
	opened("/proc/1/environ", O_RDONLY);
}

static const struct {
	const char *name;
	void (*go)(void);
} ways[] = {
	{"read", reading}, {"write", writing}, {"create", creating}, {"change", changing}, {"plant", plant},
	{"ptrace", trace}, {"memory", memory_of_others}, {"kill", signals},
	{"devices", devices}, {"mount", mounts}, {"namespaces", namespaces}, {"chroot", chrooted},
	{"identity", identity}, {"set-user-id", set_user_id}, {"credentials", credentials},
	{"tcp", tcp}, {"udp", udp}, {"unix", named}, {"listen", listening}, {"families", families}, {"vsock", vsock}, {"raw", raw}, {"network", network},
	{"keys", keys}, {"io_uring", io_uring}, {"bpf", bpf}, {"perf", perf}, {"userfaultfd", userfaultfd},
	{"handles", handles}, {"machine", machine}, {"system-v", system_v}, {"queue", posix_queue}, {"environment", environment},
	{"watch", watching}, {"cache", caching}, {"hint", hinting}, {"lock", locking}, {"touch", touching}, {"mounted", mounted},
};

int main(int argc, char **argv) {
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argv[1], ways[i].name)) {
			args = argv + 2;
			ways[i].go();
			return 0;
		}
	return 2;
}
