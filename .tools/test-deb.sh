#!/bin/bash
# Installs a Debian package in a clean root, starts it there as the unit of systemd
# says, and has it judge a program. Needs root and debootstrap.
# usage: test-deb.sh FILE.deb
set -euo pipefail
# shellcheck source=debian-root.sh
. "$(dirname "$0")/debian-root.sh"

make_root
mount_root
install "$1" postgresql redis-server gcc libc6-dev
in_root deepoj version
in_root dpkg --verify deepoj
[ "$(in_root stat -c '%U:%G %a' /var/lib/deepoj)" = "deepoj:deepoj 750" ] || { echo "/var/lib/deepoj is not the account's" >&2; exit 1; }
[ "$(in_root stat -c '%U:%G %a' /etc/deepoj/environment)" = "root:deepoj 640" ] || { echo "the settings can be read by others" >&2; exit 1; }

# shellcheck disable=SC2046 # a command line without quotes
judge $(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/deepoj.service")
in_root deepoj audit --data /var/lib/deepoj >/dev/null
in_root deepoj doctor --security --data /var/lib/deepoj | tee "$root/security"
grep -q '^ok *account *deepoj, which' "$root/security" || { echo "the account is not the program's alone" >&2; exit 1; }
rm -f "$root/security"
stop

echo "test-deb: removing"
in_root apt-get purge -y -qq deepoj >"$root/purge.log" 2>&1 || { tail -20 "$root/purge.log" >&2; exit 1; }
[ ! -e "$root/usr/bin/deepoj" ] && [ ! -e "$root/etc/deepoj/environment" ] && [ -d "$root/var/lib/deepoj" ] ||
	{ echo "a purge leaves the program or the settings, or takes the data" >&2; exit 1; }
echo "test-deb: ok"
