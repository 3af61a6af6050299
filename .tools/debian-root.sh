# shellcheck shell=bash
# A clean Debian root, for scripts that are run by root and source this file: debootstrap
# makes it from the mirror that this machine's apt uses. The mounts are of the script
# alone, and end with it.
set -euo pipefail

command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "a root is made by root only: sudo $0 $*" >&2; exit 1; }
if [ "${DEEPOJ_UNSHARED:-}" != 1 ]; then
	exec env DEEPOJ_UNSHARED=1 unshare --mount --propagation private "$0" "$@"
fi

root=$(mktemp -d)
chmod 755 "$root" # accounts live in it
running=
finish() {
	[ -z "$running" ] || { kill -TERM "$running" 2>/dev/null && wait "$running" || true; }
	unmount_root
	rm -rf --one-file-system "$root"
}
trap finish EXIT

# in_root runs a command in the root.
in_root() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"; }

# make_root makes the root, with the settings of this machine's apt.
make_root() {
	local suite mirror
	# shellcheck source=/dev/null
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' | awk -v s="$suite" '$2 == s {print $1; exit}')
	[ -n "$mirror" ] || { echo "apt names no mirror of $suite" >&2; exit 1; }
	echo "${0##*/}: making a clean $suite"
	debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
	rm -f "$root.log"
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # nothing is started by an installation
	chmod 755 "$root/usr/sbin/policy-rc.d"
	[ ! -e /etc/apt/apt.conf.d ] || cp -rL /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
}

# mount_root gives the root what programs expect of a machine.
mount_root() {
	mount --bind "$root" "$root" # the sandbox changes mounts, so the root has to be one
	mount --bind /proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
}

unmount_root() {
	local dir
	for dir in /proc /sys /dev ""; do umount -R -l "$root$dir" 2>/dev/null || true; done
}

# install installs a Debian package of Deep-OJ and others.
install() {
	echo "${0##*/}: installing"
	cp "$1" "$root/tmp/deepoj.deb"
	shift
	in_root apt-get update -qq
	in_root apt-get install -y -qq --no-install-recommends /tmp/deepoj.deb "$@" >"$root/install.log" 2>&1 ||
		{ tail -30 "$root/install.log" >&2; exit 1; }
	rm -f "$root/install.log" "$root/tmp/deepoj.deb"
}

# post sends JSON to the server at $address, with a token if there is one, and prints
# the body of the answer.
post() {
	exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
	printf 'POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n%s\r\n%s' \
		"$1" "$address" "${#2}" "${3:+Authorization: Bearer $3$'\r\n'}" "$2" >&3
	sed '1,/^\r$/d' <&3
	exec 3>&-
}

# judge starts a command line of deepoj in the root that brings everything itself, and
# has it judge a program in C, as its administrator. The process is $running afterwards.
judge() {
	local url first token
	printf '#include <stdio.h>\nint main(void) { long a, b; while (scanf("%%ld %%ld", &a, &b) == 2) printf("%%ld\\n", a + b); }\n' >"$root/tmp/good.c"
	echo "${0##*/}: starting: $*"
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LISTEN_ADDR=127.0.0.1:0 chroot "$root" "$@" >"$root/up.log" 2>&1 &
	running=$!
	for _ in $(seq 600); do
		url=$(sed -n 's/^Deep-OJ is ready: //p' "$root/up.log")
		[ -z "$url" ] || break
		kill -0 "$running" 2>/dev/null || { cat "$root/up.log" >&2; exit 1; }
		sleep 0.5
	done
	[ -n "$url" ] || { echo "it is not ready after five minutes" >&2; tail -50 "$root/up.log" >&2; exit 1; }
	address=${url#http://}
	first=$(sed -n 's/^ *The first account is admin with the password \([^ ]*\) .*/\1/p' "$root/up.log")
	token=$(post /api/v1/sessions "{\"name\": \"admin\", \"password\": \"$first\"}" | sed -n 's/.*"token":"\([^"]*\)".*/\1/p')
	post /api/v1/account/password "{\"current\": \"$first\", \"new\": \"only for this test\"}" "$token"
	in_root deepoj submit --server "$url" --token "$token" --problem aplusb --language c --wait /tmp/good.c | tee "$root/verdict"
	grep -q '^AC ' "$root/verdict" || { tail -50 "$root/up.log" >&2; exit 1; }
}

# stop ends what judge started.
stop() {
	kill -TERM "$running"
	wait "$running"
	running=
}
