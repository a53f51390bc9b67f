#!/bin/sh
# Look for what a build needs, and say how to get what is missing. Usage: check-setup.sh PYTHON
python=${1:-python3}
missing=0

complain() {
    printf '\n%s\n' "$1" >&2
    shift
    printf '    %s\n' "$@" >&2
    missing=1
}

if ! command -v cargo >/dev/null 2>&1; then
    complain "byteloom's core is written in Rust, and cargo was not found." \
        "Install Rust with rustup, see rust-lang.org (two minutes, no root needed)," \
        "open a new terminal, and run make again."
else
    wanted=$(sed -n 's/^rust-version *= *"1\.\([0-9]*\).*/\1/p' Cargo.toml)
    found=$(rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
    if [ -n "$wanted" ] && [ "${found:-0}" -lt "$wanted" ]; then
        complain "byteloom needs Rust 1.$wanted or newer, and found $(rustc --version 2>/dev/null || echo none)." \
            "With rustup: rustup update stable. A Rust from the system's packages is too old:" \
            "install Rust with rustup, see rust-lang.org."
    fi
fi

if ! command -v cc >/dev/null 2>&1; then
    complain "Rust needs a linker, and no C compiler (cc) was found." \
        "Debian and Ubuntu: apt-get install build-essential" \
        "macOS: xcode-select --install"
fi

if ! command -v "$python" >/dev/null 2>&1; then
    complain "$python was not found; byteloom needs Python 3.10 or newer." \
        "Debian and Ubuntu: apt-get install python3 python3-venv"
elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    complain "byteloom needs Python 3.10 or newer, and $python is $("$python" -V 2>&1)." \
        "Name another one: make PYTHON=python3.12"
elif ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    complain "$python cannot make virtual environments here." \
        "Debian and Ubuntu: apt-get install python3-venv"
fi

exit $missing
