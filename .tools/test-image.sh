#!/bin/bash
# Starts the root of the container image as a container would, with a file system,
# mounts, processes and a host name of its own: what the compose file and the manifests
# start and ask is there, a worker's sandbox is well, and a program in C is judged.
# PostgreSQL is added for it, as the image has none. Needs root and debootstrap.
# usage: test-image.sh ROOT.tar
set -euo pipefail
if [ "${DEEPOJ_UNSHARED:-}" != 1 ]; then
	exec env DEEPOJ_UNSHARED=1 unshare --mount --pid --fork --uts --ipc --mount-proc --propagation private "$0" "$@"
fi
# shellcheck source=debian-root.sh
. "$(dirname "$0")/debian-root.sh"

echo "test-image: unpacking"
tar -C "$root" -xf "$1"
hostname deepoj-container
mount_root
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ "$(in_root id -u deepoj):$(in_root id -g deepoj)" = 10001:10001 ] || { echo "the account has another number" >&2; exit 1; }
for role in api scheduler worker; do
	said=$(in_root deepoj "$role" --help 2>&1)
	[[ $said == "usage: deepoj $role "* ]] || { echo "deepoj $role: $said" >&2; exit 1; }
done

echo "test-image: adding PostgreSQL"
in_root apt-get update -qq
in_root apt-get install -y -qq --no-install-recommends postgresql >"$root/install.log" 2>&1 || { tail -30 "$root/install.log" >&2; exit 1; }
in_root deepoj doctor --data /var/lib/deepoj | tee "$root/doctor.log" || true
grep -q '^ok *sandbox ' "$root/doctor.log" || { echo "the sandbox is not well" >&2; exit 1; }
judge /usr/bin/deepoj up --user deepoj --data /var/lib/deepoj/all

# The health check of the compose file, with the port of this api.
check=$(sed -n 's/^ *test: \[CMD, bash, -c, "\(exec .*\)"\]$/\1/p' "$(dirname "$0")/../host/deploy/compose/compose.yaml")
check=${check//8080/${address##*:}} check=${check//\\\\/\\} check=${check//\$\$/\$}
[ -n "$check" ] && in_root bash -c "$check" || { echo "the health check fails: $check" >&2; exit 1; }
! in_root bash -c "${check//readyz/no-such-page}" || { echo "the health check finds everything well" >&2; exit 1; }
stop
echo "test-image: ok"
