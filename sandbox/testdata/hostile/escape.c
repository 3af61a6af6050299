// Tries to leave the box or to see the host. Prints one line for each attempt
// that worked, and nothing at all when all of them failed. With the argument
// "landlock" it also tries what only Landlock denies.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
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
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void worked(const char *what, int yes) {
	if (yes) printf("%s\n", what);
}

// can reports whether a path can be opened with flags.
static int can(const char *path, int flags) {
	int fd = open(path, flags | O_NONBLOCK, 0600);
	if (fd >= 0) close(fd);
	return fd >= 0;
}

// shows reports whether there is something to read at a path.
static int shows(const char *path) {
	struct stat st;
	char c;
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0) return 0;
	int yes = fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || read(fd, &c, 1) != 0;
	close(fd);
	return yes;
}

static int connects(int family, const void *addr, socklen_t n) {
	int s = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int r = s < 0 ? -1 : connect(s, addr, n);
	int ok = r == 0 || (s >= 0 && errno == EINPROGRESS);
	if (s >= 0) close(s);
	return ok;
}

static void files(void) {
	const char *hidden[] = {
		"/etc/shadow", "/root/.bashrc", "/root/.profile", "/home", "/var", "/run", "/sys/kernel", "/mnt", "/opt", "/boot", "/srv",
		"/proc/1/root/etc", "/proc/1/mem", "/proc/1/environ", "/proc/1/fd/0", "/proc/1/cwd/", "/proc/kcore", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda",
		"/sys/fs/cgroup", "/dev/tty", "/dev/ptmx", "/dev/fuse", "/dev/kvm", "/dev/vsock", NULL};
	for (int i = 0; hidden[i] != NULL; i++) worked(hidden[i], shows(hidden[i]));
	const char *constant[] = {
		"/usr/planted", "/planted", "/etc/planted", "/bin/planted", "/proc/planted", "/dev/planted", "/box/planted", "/usr/bin/planted", NULL};
	for (int i = 0; constant[i] != NULL; i++) worked(constant[i], can(constant[i], O_CREAT | O_WRONLY));
	const char *unwritable[] = {
		"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/self/oom_score_adj",
		"/proc/sys/vm/overcommit_memory", "/etc/passwd", "/box/ours", "/usr/bin/gcc", "/proc/self/mem", NULL};
	for (int i = 0; unwritable[i] != NULL; i++) worked(unwritable[i], can(unwritable[i], O_WRONLY));
	worked("remove a file of ours", unlink("/box/ours") == 0);
	worked("rename a file of ours", rename("/box/ours", "/box/other") == 0);
	worked("mknod a disk", mknod("/tmp/disk", S_IFBLK | 0600, 0xfe00) == 0);
	worked("mknod mem", mknod("/tmp/mem", S_IFCHR | 0600, 0x101) == 0);
	worked("chown", chown("/tmp", 0, 0) == 0);
}

static void privileges(void) {
	worked("setuid", setuid(0) == 0);
	worked("setgid", setgid(0) == 0);
	worked("seteuid", seteuid(0) == 0);
	gid_t groups[8];
	worked("has groups", getgroups(8, groups) != 0);
	worked("setgroups", setgroups(0, NULL) == 0);
	worked("mount", mount("none", "/tmp", "tmpfs", 0, NULL) == 0);
	worked("bind mount", mount("/usr", "/tmp", NULL, MS_BIND, NULL) == 0);
	worked("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0);
	worked("umount", umount2("/proc", MNT_DETACH) == 0);
	worked("chroot", chroot("/tmp") == 0);
	worked("pivot_root", syscall(SYS_pivot_root, "/", "/tmp") == 0);
	worked("unshare user", unshare(CLONE_NEWUSER) == 0);
	worked("unshare mount", unshare(CLONE_NEWNS) == 0);
	worked("clone a user namespace", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0);
	worked("clone3", syscall(SYS_clone3, NULL, 0) >= 0 || errno != ENOSYS);
	worked("setns", setns(open("/proc/self/ns/net", O_RDONLY), 0) == 0);
	worked("swapoff", swapoff("/dev/sda") == 0 || errno != EPERM);
	worked("reboot", reboot(RB_DISABLE_CAD) == 0);
	worked("sethostname", sethostname("x", 1) == 0);
	worked("settimeofday", syscall(SYS_settimeofday, NULL, NULL) == 0);
	worked("open_by_handle_at", syscall(SYS_open_by_handle_at, 0, NULL, 0) >= 0 || errno != EPERM);
	// A setuid program of the host must give nothing.
	if (fork() == 0) {
		execl("/usr/bin/passwd", "passwd", "-S", "root", (char *)NULL);
		_exit(0);
	}
	wait(NULL);
	unsigned long all = ~0UL;
	worked("choose cores", syscall(SYS_sched_setaffinity, 0, sizeof all, &all) >= 0);
}

static void kernel(void) {
	char buf[4096] = {0};
	worked("ptrace the parent", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0);
	worked("ptrace init", ptrace(PTRACE_SEIZE, 1, NULL, NULL) == 0);
	struct iovec v = {buf, 16};
	worked("process_vm_readv", process_vm_readv(1, &v, 1, &v, 1, 0) >= 0 || errno != EPERM);
	worked("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 1) >= 0);
	worked("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3) >= 0);
	struct io_uring_params p = {0};
	worked("io_uring", syscall(SYS_io_uring_setup, 4, &p) >= 0);
	union bpf_attr b = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	worked("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &b, sizeof b) >= 0);
	struct perf_event_attr e = {.type = PERF_TYPE_SOFTWARE, .size = sizeof e, .exclude_kernel = 1};
	worked("perf", syscall(SYS_perf_event_open, &e, 0, -1, -1, 0) >= 0);
	worked("userfaultfd", syscall(SYS_userfaultfd, 1) >= 0);
	worked("memfd_secret", syscall(447, 0) >= 0);
	worked("syslog", syscall(SYS_syslog, 3, buf, sizeof buf) >= 0);
	worked("shm", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) >= 0);
	worked("semaphores", semget(IPC_PRIVATE, 1, IPC_CREAT | 0600) >= 0);
	worked("messages", msgget(IPC_PRIVATE, IPC_CREAT | 0600) >= 0);
	worked("mq", syscall(SYS_mq_open, "q", O_CREAT | O_RDWR, 0600, NULL) >= 0);
	worked("fanotify", syscall(SYS_fanotify_init, 0, 0) >= 0);
}

static void network(void) {
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(22)};
	const char *addresses[] = {"127.0.0.1", "10.0.0.1", "192.0.2.1", "169.254.169.254", NULL};
	for (int i = 0; addresses[i] != NULL; i++) {
		inet_pton(AF_INET, addresses[i], &in.sin_addr);
		worked(addresses[i], connects(AF_INET, &in, sizeof in));
	}
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(22), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	worked("::1", connects(AF_INET6, &in6, sizeof in6));
	int families[] = {AF_NETLINK, AF_PACKET, 40 /* vsock */, 38 /* alg */, AF_BLUETOOTH, 31, 44};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		char name[32];
		snprintf(name, sizeof name, "family %d", families[i]);
		worked(name, socket(families[i], SOCK_RAW, 0) >= 0 || errno != EAFNOSUPPORT);
	}
	worked("raw socket", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0);
	// The test listens on this name, on the host.
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	memcpy(un.sun_path + 1, "deepoj-test", 11);
	worked("abstract socket", connects(AF_UNIX, &un, sizeof(sa_family_t) + 12));
}

static void landlock(void) {
	struct sockaddr_in in = {.sin_family = AF_INET};
	worked("listen on TCP", bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&in, sizeof in) == 0);
}

// status prints what this process must not have kept.
static void status(void) {
	FILE *f = fopen("/proc/self/status", "r");
	char line[4096];
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		char *colon = strchr(line, ':');
		unsigned long v = colon == NULL ? 0 : strtoul(colon + 1, NULL, 16);
		worked("has capabilities", !strncmp(line, "CapPrm:", 7) && v != 0);
		worked("has effective capabilities", !strncmp(line, "CapEff:", 7) && v != 0);
		worked("may get privileges", !strncmp(line, "NoNewPrivs:", 11) && v != 1);
		worked("is not filtered", !strncmp(line, "Seccomp:", 8) && v != 2);
	}
	worked("has no status", f == NULL);
}

int main(int argc, char **argv) {
	files();
	privileges();
	kernel();
	network();
	status();
	if (argc > 1 && !strcmp(argv[1], "landlock")) landlock();
	return 0;
}
