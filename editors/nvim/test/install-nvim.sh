#!/usr/bin/env bash
# Unpacks the Neovim of another Debian suite, including its libraries, into a cache directory of the user.
# Usage: install-nvim.sh SUITE (trixie: 0.10, sid: 0.12 or newer). Prints the path of a script that starts it; with
# status 3 and a message if it is not available on this machine. The second run is fast.
set -euo pipefail

suite=$1
cache="${ZONELENS_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/zonelens-test}"
home="$cache/nvim-$suite"
cannot() {
    echo "no Neovim of $suite: $*" >&2
    exit 3
}

if [ ! -e "$home/ready" ]; then
    command -v apt-get >/dev/null || cannot "this is not Debian"
    # The mirror and the key are those of this machine.
    sources=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null || true)
    mirror=$(grep -v '^ *#' <<<"$sources" | grep -Eo '(https?|file)://[^ ]+' | grep -v security | head -n 1) || true
    [ -n "$mirror" ] || cannot "no mirror in the apt sources"
    key=$(ls /usr/share/keyrings/debian-archive-keyring.* 2>/dev/null | head -n 1) || true
    [ -n "$key" ] || cannot "no archive key"
    rm -rf "$home"
    mkdir -p "$home"/{state/lists/partial,archives/partial,etc/apt.conf.d,etc/preferences.d,root}
    : >"$home/state/status"
    echo "deb [signed-by=$key] $mirror $suite main" >"$home/etc/sources.list"
    options=(-o "Dir::Etc::SourceList=$home/etc/sources.list" -o "Dir::Etc::SourceParts=/dev/null"
        -o "Dir::Etc::Preferences=/dev/null" -o "Dir::Etc::PreferencesParts=$home/etc/preferences.d"
        -o "Dir::State=$home/state" -o "Dir::State::status=$home/state/status" -o "Dir::Cache=$home"
        -o "Dir::Cache::archives=$home/archives" -o "APT::Sandbox::User=root" -o "APT::Get::List-Cleanup=0"
        -o "Acquire::Languages=none" -o "Debug::NoLocking=1" -o "APT::Install-Recommends=0")
    apt-get "${options[@]}" -qq update >&2 || cannot "the package lists cannot be read"
    apt-get "${options[@]}" -qq -y --download-only install neovim >&2 || cannot "its packages cannot be downloaded"
    for package in "$home"/archives/*.deb; do
        dpkg-deb -x "$package" "$home/root"
    done
    rm -rf "$home/archives" "$home/state" "$home"/*.bin
    # Its own loader and libraries are written into it: those of the system may be older, and it also starts itself.
    command -v patchelf >/dev/null || apt-get -qq -y install patchelf >&2 || cannot "there is no patchelf"
    loader=$(ls "$home"/root/{lib64,usr/lib64,lib,usr/lib/*}/ld-linux-*.so.* 2>/dev/null | head -n 1 || true)
    libraries=$(ls -d "$home"/root/{usr/lib,lib}/*-linux-gnu* 2>/dev/null | paste -sd : || true)
    patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries" "$home/root/usr/bin/nvim"
    cat >"$home/nvim" <<'SCRIPT'
#!/usr/bin/env bash
here=$(cd "$(dirname "$0")" && pwd)/root
export VIMRUNTIME=$here/usr/share/nvim/runtime
exec "$here/usr/bin/nvim" "$@"
SCRIPT
    chmod +x "$home/nvim"
    "$home/nvim" --version >/dev/null || cannot "it does not start"
    touch "$home/ready"
fi
echo "$home/nvim"
