#!/bin/bash
# Makes a Debian package of programs that are built.
# usage: deb.sh PROGRAMS VERSION FILE.deb
#   PROGRAMS: folder with deepoj, deepoj-feed and deepoj-judge    VERSION: as git describes it
# The same input gives the same file, byte by byte, with SOURCE_DATE_EPOCH. DEB_LEVEL
# is how hard to compress, 0 to 9.
set -euo pipefail

programs=$1 described=$2 out=$3
cd "$(dirname "$0")/.."
deploy=host/deploy
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
# Versions of packages begin with a digit; what git says of no tag becomes 0.
version=${described#v}
case $version in [0-9]*.*) ;; *) version=0~git$version ;; esac
version=${version//-/+}

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
put() { install -D -m "$1" "$2" "$root/$3"; }
zip() { gzip -9n <"$1" >"$root/$2" && chmod 644 "$root/$2"; }
put 755 "$programs/deepoj" usr/bin/deepoj
put 755 "$programs/deepoj-feed" usr/bin/deepoj-feed
put 755 "$programs/deepoj-judge" usr/bin/deepoj-judge
for unit in $deploy/systemd/*.service; do put 644 "$unit" "lib/systemd/system/${unit##*/}"; done
put 644 $deploy/systemd/deepoj.sysusers usr/lib/sysusers.d/deepoj.conf
put 644 $deploy/systemd/deepoj.tmpfiles usr/lib/tmpfiles.d/deepoj.conf
put 640 $deploy/debian/environment etc/deepoj/environment
put 644 $deploy/debian/overrides usr/share/lintian/overrides/deepoj
put 644 $deploy/debian/copyright usr/share/doc/deepoj/copyright
for file in prometheus/deepoj.rules.yml prometheus/prometheus.yml grafana/deepoj.json feed.yaml; do
	put 644 "$deploy/$file" "usr/share/doc/deepoj/examples/${file##*/}"
done
mkdir -p "$root/usr/share/man/man1"
for page in deepoj deepoj-feed deepoj-judge; do zip $deploy/debian/$page.1 usr/share/man/man1/$page.1.gz; done
printf 'deepoj (%s) unstable; urgency=medium\n\n  * Built from %s.\n\n -- Deep-OJ maintainers <maintainers@deepoj.example>  %s\n' \
	"$version" "$described" "$(date -uRd "@$SOURCE_DATE_EPOCH")" >"$root/changelog"
zip "$root/changelog" usr/share/doc/deepoj/changelog.gz
rm "$root/changelog"

mkdir "$root/DEBIAN"
for file in conffiles postinst prerm postrm; do
	put "$([ $file = conffiles ] && echo 644 || echo 755)" $deploy/debian/$file DEBIAN/$file
done
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/" \
	-e "s/@SIZE@/$(du -sk --exclude DEBIAN "$root" | cut -f1)/" $deploy/debian/control >"$root/DEBIAN/control"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 755 {} +
mkdir -p "$(dirname "$out")"
dpkg-deb -z"${DEB_LEVEL:-6}" --root-owner-group --build "$root" "$out" >/dev/null
