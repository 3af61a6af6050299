// What a program sees and leaves in its network namespace. Usage: network look | fill
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

// These are the whole machine's, or say where the kernel keeps things.
static int of_the_machine(const char *name) {
	return !strcmp(name, "netlink") || !strcmp(name, "softnet_stat") || !strcmp(name, "rt_cache") || !strcmp(name, "rt_acct");
}

static void look(const char *path) {
	struct stat st;
	if (lstat(path, &st))
		return;
	if (S_ISDIR(st.st_mode)) {
		struct dirent **all;
		int n = scandir(path, &all, 0, alphasort);
		for (int i = 0; i < n; i++) {
			char below[4096];
			if (all[i]->d_name[0] == '.' || of_the_machine(all[i]->d_name))
				continue;
			snprintf(below, sizeof below, "%s/%s", path, all[i]->d_name);
			look(below);
		}
		return;
	}
	char line[8192];
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "TCP: inuse", 10) && strncmp(line, "UDP: inuse", 10)) // likewise: orphans, and memory
			printf("%s: %s", path, line);
	printf("%s is %s\n", path, f ? "read" : "kept");
}

// Every socket that there is: some have a name that stays as long as they do, some are only in messages to themselves.
static void fill(void) {
	int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	for (int i = 0; i < 3; i++) {
		int s = socket(AF_UNIX, kinds[i], 0), pair[2];
		struct sockaddr_un at = {.sun_family = AF_UNIX};
		at.sun_path[1] = 'a' + i;
		if (s < 0 || bind(s, (struct sockaddr *)&at, sizeof(sa_family_t) + 2) || socketpair(AF_UNIX, kinds[i], 0, pair))
			exit(1);
		listen(s, 9);
		union {
			struct cmsghdr head;
			char all[CMSG_SPACE(3 * sizeof(int))];
		} rights;
		memset(&rights, 0, sizeof rights);
		rights.head.cmsg_level = SOL_SOCKET;
		rights.head.cmsg_type = SCM_RIGHTS;
		rights.head.cmsg_len = CMSG_LEN(3 * sizeof(int));
		memcpy(CMSG_DATA(&rights.head), (int[]){pair[0], pair[1], s}, 3 * sizeof(int));
		struct iovec word = {"x", 1};
		struct msghdr m = {.msg_iov = &word, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
		if (sendmsg(pair[0], &m, 0) != 1)
			exit(2);
	}
	for (int family = 0; family < 64; family++) {
		struct sockaddr_in to = {AF_INET, htons(9), {htonl(INADDR_LOOPBACK)}};
		socket(family, SOCK_RAW, 0);
		socket(family, SOCK_STREAM, 0);
		sendto(socket(family, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&to, sizeof to);
	}
	if (fork() == 0) {
		setsid();
		for (;;)
			;
	}
}

int main(int argc, char **argv) {
	unsigned long long number = 0;
	socklen_t size = sizeof number;
	if (argc == 2 && !strcmp(argv[1], "fill")) {
		fill();
	} else if (argc == 2 && !strcmp(argv[1], "look")) {
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		getsockopt(s, SOL_SOCKET, SO_NETNS_COOKIE, &number, &size);
		close(s);
		printf("%llu\n", number); // is never given again, unlike that of the namespace's file
		look("/proc/self/net");
	} else {
		return 9;
	}
	return 0;
}
