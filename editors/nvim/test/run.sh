#!/usr/bin/env bash
# Drives a headless Neovim through the plugin and the real server.
# Usage: run.sh [SERVER]; without it the server of the last debug or release build is used.
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

nvim=${NVIM:-nvim}
if ! command -v "$nvim" >/dev/null; then
  (apt-get install -y neovim || { apt-get update && apt-get install -y neovim; }) >/dev/null
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root"/examples/fischer*.xta "$work"/
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
export ZONELENS_SERVER=$server ZONELENS_PLUGIN=$root/editors/nvim ZONELENS_WORK=$work

"$nvim" --version | head -n 1
status=0
for test in "$here"/*_spec.lua; do
  # Results of one test must not be known to the next.
  export ZONELENS_CACHE_DIR=$work/results-$(basename "$test" .lua)
  if timeout 180 "$nvim" --headless -u "$here/init.lua" -c "luafile $test" 2>&1; then
    echo "ok   $(basename "$test")"
  else
    echo "FAIL $(basename "$test")"
    status=1
  fi
done
exit $status
