#!/usr/bin/env bash
# Drives headless Neovims through the plugin and the real server: the system's, and those of newer Debian suites.
# Usage: run.sh [SERVER]; without it the server of the last debug or release build is used.
# NVIM names one Neovim to use instead of all.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

server=${1:-${ZONELENS:-}}
if [ -z "$server" ]; then
  for candidate in debug ci release; do
    found="${CARGO_TARGET_DIR:-$root/target}/$candidate/zonelens"
    if [ -x "$found" ] && { [ -z "$server" ] || [ "$found" -nt "$server" ]; }; then
      server=$found
    fi
  done
fi
if [ -z "$server" ]; then
  echo "no server: build it with cargo build -p zonelens" >&2
  exit 2
fi
server=$(realpath "$server")

editors=()
if [ -n "${NVIM:-}" ]; then
  editors=("$NVIM")
else
  if ! command -v nvim >/dev/null; then
    (apt-get install -y neovim || { apt-get update && apt-get install -y neovim; }) >/dev/null
  fi
  editors=(nvim)
  for suite in trixie sid; do
    # If it is not available, a message is printed; the others are still tested.
    if other=$("$here/install-nvim.sh" "$suite"); then
      editors+=("$other")
    else
      # `cargo xtask ci` counts such lines.
      echo "SKIPPED: the Neovim of $suite"
    fi
  done
fi

# A model whose exploration takes longer than the test.
slow() {
  local names=()
  for i in 0 1 2 3 4 5 6 7 8; do
    echo "process P$i() { clock x, y; int[0,50] n; state a { x <= $((7 + 3 * i)) }, b { y <= $((11 + 5 * i)) }, c; init a; trans"
    echo "    a -> b { guard x >= $((1 + i)); assign y = 0, n = (n + $((i + 1))) % 47; },"
    echo "    b -> c { guard y > $((2 + i)); }, c -> a { assign x = 0; }; }"
    names+=("P$i")
  done
  echo "system $(IFS=,; echo "${names[*]}");"
  echo "//@ query A[] not (P0.n == 48 && P8.n == 48)"
}

status=0
for nvim in "${editors[@]}"; do
  "$nvim" --version | head -n 1
  for test in "$here"/*_spec.lua; do
    # Every test has its own files, results and state.
    work=$(mktemp -d)
    cp "$root"/examples/fischer*.xta "$work"/
    slow >"$work/slow.xta"
    export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
    export ZONELENS_SERVER=$server ZONELENS_PLUGIN=$root/editors/nvim ZONELENS_WORK=$work ZONELENS_CACHE_DIR=$work/results
    ended=0
    timeout 180 "$nvim" --headless -u "$here/init.lua" -c "luafile $test" 2>&1 || ended=$?
    if [ "$ended" = 0 ]; then
      echo "ok   $(basename "$test")"
    else
      echo "FAIL $(basename "$test"), exit status $ended"
      status=1
    fi
    rm -rf "$work"
  done
done
exit $status
