#!/bin/bash
# Makes the root file system of the container image, as a tar file: a clean Debian with
# the package of Deep-OJ and tool chains. TOOLS names the Debian packages of those that
# judge, and COMPILERS of those that compile checkers and draw pictures of statements:
# with COMPILERS= the image is smaller, and takes checkers as modules only.
# Needs root and debootstrap.
# usage: image-root.sh FILE.deb OUT.tar
set -euo pipefail
# shellcheck source=debian-root.sh
. "$(dirname "$0")/debian-root.sh"
read -ra tools <<<"${TOOLS:-gcc g++ libc6-dev python3}"
read -ra compilers <<<"${COMPILERS-clang lld wasi-libc libclang-rt-14-dev-wasm32 libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 poppler-utils ghostscript}"

make_root
# The number is written down in compose files and manifests.
in_root groupadd --gid 10001 deepoj
in_root useradd --no-create-home --uid 10001 --gid deepoj --home-dir /var/lib/deepoj --shell /usr/sbin/nologin deepoj
mount --bind /proc "$root/proc"
install "$1" ca-certificates "${tools[@]}" "${compilers[@]}"
unmount_root
in_root apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/log/*.log "$root"/usr/share/{doc,man,locale}/* \
	"$root/usr/sbin/policy-rc.d" "$root/etc/resolv.conf"
: >"$root/etc/resolv.conf" # the container's own is laid over it
mkdir -p "$(dirname "$2")"
tar -C "$root" --numeric-owner --sort=name --one-file-system -cf "$2" .
echo "image-root: $2 has $(du -h "$2" | cut -f1)"
