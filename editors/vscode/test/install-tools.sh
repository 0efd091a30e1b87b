#!/usr/bin/env bash
# Installs missing tools for the test in the real workbench: Chromium and ripgrep from apt, code-server from
# npm into a cache directory of the user. Prints the directory of code-server. The second run is fast.
set -euo pipefail

version=4.100.3
cache="${ZONELENS_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/zonelens-test}"
home="$cache/code-server-$version"
say() { echo "tools: $*" >&2; }

apt_install() {
    local sudo=""
    [ "$(id -u)" = 0 ] || sudo="sudo -n"
    say "installing $* with apt"
    $sudo apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" >&2
}

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v rg >/dev/null || missing+=(ripgrep)
command -v g++ >/dev/null || missing+=(build-essential)
command -v make >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf ] || missing+=(fonts-dejavu-core)
[ "${#missing[@]}" = 0 ] || apt_install "${missing[@]}"

if [ ! -e "$home/ready" ]; then
    say "installing code-server $version into $home (about 320 MB, once)"
    rm -rf "$home"
    mkdir -p "$home"
    cd "$home"
    export npm_config_nodedir=/usr npm_config_build_from_source=true npm_config_yes=true npm_config_audit=false \
        npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error
    echo '{"private": true}' >package.json
    npm install --ignore-scripts "code-server@$version" >&2
    package="$home/node_modules/code-server"
    # Its own scripts would download ripgrep; the rest of what they do is done here.
    npm rebuild argon2 >&2
    cd "$package/lib/vscode"
    npm install --omit=dev --ignore-scripts >&2
    npm rebuild native-watchdog @vscode/spdlog node-pty >&2
    mkdir -p node_modules/@vscode/ripgrep/bin
    ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
    ln -sfn node_modules node_modules.asar
    ln -sf code-linux.sh bin/remote-cli/code-server
    ln -sf browser-linux.sh bin/helpers/browser.sh
    (cd extensions && npm install --omit=dev --ignore-scripts >&2)
    touch "$home/ready"
fi
echo "$home/node_modules/code-server"
