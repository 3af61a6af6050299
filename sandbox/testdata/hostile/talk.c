// One of two programs that talk through standard input and output.
// Usage: talk WAY [NUMBER]
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char block[4096];

// flood writes n MiB to standard error.
static void flood(long n) {
	for (long i = 0; i < n << 8; i++)
		if (write(2, block, sizeof block) != (ssize_t)sizeof block) _exit(4);
}

static void pause_ms(long ms) {
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

// listen reads until the other one ends, and returns how many bytes came.
static long listen(void) {
	long n = 0;
	for (ssize_t k; (k = read(0, block, sizeof block)) > 0;) n += k;
	return n;
}

int main(int argc, char **argv) {
	if (argc < 2) return 2;
	const char *way = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 0, low = 1, high = 1000000, guess;
	char reply[2];
	setvbuf(stdout, NULL, _IOLBF, 0);
	memset(block, 'x', sizeof block);
	if (!strcmp(way, "guess")) {
		// Finds the other one's number.
		for (;;) {
			printf("%ld\n", guess = (low + high) / 2);
			if (scanf("%1s", reply) != 1) return 1;
			if (*reply == '=') return 0;
			if (*reply == '<') high = guess - 1;
			else low = guess + 1;
		}
	} else if (!strcmp(way, "answer")) {
		for (;;) {
			if (scanf("%ld", &guess) != 1) return 1;
			puts(guess == n ? "=" : n < guess ? "<" : ">");
			if (guess == n) return 0;
		}
	} else if (!strcmp(way, "listen")) {
		listen(); // and then ends well
	} else if (!strcmp(way, "listen-and-stay")) {
		listen();
		pause_ms(n);
	} else if (!strcmp(way, "hang")) {
		for (;;) pause(); // also when the other one has ended
	} else if (!strcmp(way, "end")) {
		return (int)n;
	} else if (!strcmp(way, "wait-and-end")) {
		pause_ms(n);
		return 3;
	} else if (!strcmp(way, "say-and-end")) {
		puts("word");
		return (int)n;
	} else if (!strcmp(way, "hear")) {
		if (scanf("%1s", reply) != 1) return 1;
	} else if (!strcmp(way, "speak")) {
		for (long i = 0; !n || i < n; i++)
			if (write(1, block, sizeof block) < 0) return 3; // dies of SIGPIPE before
	} else if (!strcmp(way, "speak-boldly")) {
		signal(SIGPIPE, SIG_IGN);
		for (long i = 0; !n || i < n; i++)
			if (write(1, block, sizeof block) < 0) return 3;
	} else if (!strcmp(way, "close-ears")) {
		// Reads no more, but lives until nobody speaks.
		close(0);
		pause_ms(n);
	} else if (!strcmp(way, "close-mouth")) {
		// Says no more, but lives until the other one has ended.
		close(1);
		listen();
	} else if (!strcmp(way, "complain")) {
		// Much on standard error before the one line that the other waits for.
		flood(n);
		puts("done");
	} else if (!strcmp(way, "wait-and-complain")) {
		if (scanf("%1s", reply) != 1) return 1;
		flood(n);
	} else if (!strcmp(way, "spin")) {
		for (volatile int i = 0;; i++) {
		}
	} else if (!strcmp(way, "eat")) {
		for (;;) memset(malloc(1 << 20), 1, 1 << 20);
	} else {
		return 2;
	}
	return 0;
}
