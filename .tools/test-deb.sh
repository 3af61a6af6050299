#!/bin/bash
# Installs a Debian package in a clean root, made by debootstrap from the mirror that
# this machine's apt uses, starts it there as the unit of systemd says, and waits
# until it is ready. Needs root and debootstrap.
# usage: test-deb.sh FILE.deb
set -euo pipefail

package=$(realpath "$1")
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "a root is made by root only: sudo $0 $1" >&2; exit 1; }
# Mounts below are of this script alone, and end with it.
if [ "${DEEPOJ_UNSHARED:-}" != 1 ]; then
	exec env DEEPOJ_UNSHARED=1 unshare --mount --propagation private "$0" "$package"
fi

# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' | awk -v s="$suite" '$2 == s {print $1; exit}')
[ -n "$mirror" ] || { echo "apt names no mirror of $suite" >&2; exit 1; }
root=$(mktemp -d)
chmod 755 "$root" # accounts live in it
running=
finish() {
	[ -z "$running" ] || { kill -TERM "$running" 2>/dev/null && wait "$running" || true; }
	for dir in /proc /sys /dev ""; do umount -R -l "$root$dir" 2>/dev/null || true; done
	rm -rf --one-file-system "$root"
}
trap finish EXIT

echo "test-deb: making a clean $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
rm -f "$root.log"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
[ ! -e /etc/apt/apt.conf.d ] || cp -rL /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp "$package" "$root/tmp/deepoj.deb"
mount --bind "$root" "$root" # the sandbox changes mounts, so the root has to be one
mount --bind /proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
in_root() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"; }

echo "test-deb: installing"
in_root apt-get update -qq
in_root apt-get install -y -qq --no-install-recommends /tmp/deepoj.deb postgresql redis-server gcc libc6-dev >"$root/install.log" 2>&1 ||
	{ tail -30 "$root/install.log" >&2; exit 1; }
in_root deepoj version
in_root dpkg --verify deepoj
[ "$(in_root stat -c '%U:%G %a' /var/lib/deepoj)" = "deepoj:deepoj 750" ] || { echo "/var/lib/deepoj is not the account's" >&2; exit 1; }
[ "$(in_root stat -c '%U:%G %a' /etc/deepoj/environment)" = "root:deepoj 640" ] || { echo "the settings can be read by others" >&2; exit 1; }

command=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/deepoj.service")
echo "test-deb: starting: $command"
# shellcheck disable=SC2086 # a command line without quotes
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LISTEN_ADDR=127.0.0.1:0 chroot "$root" $command >"$root/up.log" 2>&1 &
running=$!
for _ in $(seq 600); do
	url=$(sed -n 's/^Deep-OJ is ready: //p' "$root/up.log")
	[ -z "$url" ] || break
	kill -0 "$running" 2>/dev/null || { cat "$root/up.log" >&2; exit 1; }
	sleep 0.5
done
[ -n "$url" ] || { echo "it is not ready after five minutes" >&2; tail -50 "$root/up.log" >&2; exit 1; }
printf '#include <stdio.h>\nint main(void) { long a, b; while (scanf("%%ld %%ld", &a, &b) == 2) printf("%%ld\\n", a + b); }\n' >"$root/tmp/good.c"
in_root deepoj submit --server "$url" --problem aplusb --language c --wait /tmp/good.c | tee "$root/verdict"
grep -q '^AC ' "$root/verdict" || { tail -50 "$root/up.log" >&2; exit 1; }
in_root deepoj audit --data /var/lib/deepoj >/dev/null
kill -TERM "$running"
wait "$running"
running=

echo "test-deb: removing"
in_root apt-get purge -y -qq deepoj >"$root/purge.log" 2>&1 || { tail -20 "$root/purge.log" >&2; exit 1; }
[ ! -e "$root/usr/bin/deepoj" ] && [ ! -e "$root/etc/deepoj/environment" ] && [ -d "$root/var/lib/deepoj" ] ||
	{ echo "a purge leaves the program or the settings, or takes the data" >&2; exit 1; }
echo "test-deb: ok"
