#!/bin/sh
# Installs the Debian packages that this machine lacks, saying which and why.
# usage: deps.sh run|test|build
#   build: what `make build` needs      run: also what a running Deep-OJ needs
#   test:  also what the tests need
# Nothing is done, and no root is needed, when nothing is missing.
set -eu

want=$1
missing=

# need FILE-OR-COMMAND PACKAGE WHY: notes the package when the probe finds nothing.
need() {
	case $1 in
	*\**) for f in $1; do [ -e "$f" ] && return 0; done ;;
	/*) [ -e "$1" ] && return 0 ;;
	*) command -v "$1" >/dev/null 2>&1 && return 0 ;;
	esac
	echo "missing: $2 ($3)"
	missing="$missing $2"
}

need clang clang "compiles the standard checkers and checkers of packages to WebAssembly"
need wasm-ld lld "links WebAssembly"
need /usr/lib/wasm32-wasi/libc.a wasi-libc "the C library of checkers"
need /usr/lib/llvm-14/lib/clang/14*/lib/wasi/libclang_rt.builtins-wasm32.a libclang-rt-14-dev-wasm32 "compiler support for checkers"
if [ "$want" != build ]; then
	need /usr/lib/postgresql/*/bin/postgres postgresql "keeps submissions, the queue and results"
	need redis-server redis-server "drives execution; without it PostgreSQL does"
	need g++ g++ "judges C++"
	need /usr/lib/wasm32-wasi/libc++.a libc++-14-dev-wasm32 "the C++ library of checkers"
	need /usr/lib/wasm32-wasi/libc++abi.a libc++abi-14-dev-wasm32 "the C++ run-time of checkers"
	need /usr/bin/python3 python3 "judges Python"
	need javac default-jdk-headless "judges Java"
	need pdftocairo poppler-utils "draws the PDF pictures of statements and reads PDF statements; packages can do without"
	need gs ghostscript "draws the EPS pictures of statements; packages can do without"
fi
if [ "$want" = test ]; then
	need /usr/bin/rustc rustc "judges Rust, and compiles it to WebAssembly with the following"
	need '/usr/lib/rustlib/wasm32-wasi/lib/libstd-*.rlib' libstd-rust-dev-wasm32 "the Rust library of checkers"
	need tsc node-typescript "judges TypeScript"
	need zsh zsh "completes commands, in tests"
	need fish fish "completes commands, in tests"
	need /usr/bin/chromium chromium "drives the pages in the browser test"
	need /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core "text in the browser test"
	need etcd etcd-server "says which workers live, in tests"
	need promtool prometheus "reads the metrics, and proves the alerts, in tests"
	need kcat kcat "reads what the change feed writes to Kafka, in tests"
	need systemd-analyze systemd "checks the units in tests"
	need qemu-system-x86_64 qemu-system-x86 "boots kernels with cgroup v2 for the sandbox's tests"
	need newuidmap uidmap "gives programs ids of their own in the sandbox's tests without root"
fi
[ -n "$missing" ] || exit 0

root=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null 2>&1; then
		root=sudo
	else
		echo "Please install as root: apt-get install$missing" >&2
		exit 1
	fi
fi
# The services of these packages must not start: Deep-OJ runs its own private
# PostgreSQL and Redis. This is Debian's own way of saying so; it is undone.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | $root tee $policy >/dev/null
	$root chmod 755 $policy
	trap '$root rm -f $policy' EXIT
fi
echo "installing:$missing"
$root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
