#!/usr/bin/env bash
# Runs the elisp of docs/other-editors.md in a headless Emacs against the real server: diagnostic, verify, verdict.
# Usage: emacs-test.sh SERVER. Skipped with a message if there is no Emacs with eglot.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
server=$(realpath "$1")

if ! command -v emacs >/dev/null || ! emacs --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1; then
  # `cargo xtask ci` counts such lines.
  echo "SKIPPED: no Emacs with eglot here (apt install emacs-nox elpa-eglot)"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$server" "$work/bin/zonelens"
export PATH=$work/bin:$PATH HOME=$work ZONELENS_CACHE_DIR=$work/results
sed -n '/^```elisp$/,/^```$/p' "$root/docs/other-editors.md" | grep -v '^```' >"$work/page.el"
sed 's/id = i,/id = id + 1,/' "$root/examples/fischer.xta" >"$work/unsound.xta"
cp "$root/examples/fischer-broken.xta" "$work/"

cat >"$work/test.el" <<'ELISP'
(package-initialize)
(load-file "page.el")
(defun wait-for (what condition)
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end)
        (error "timeout while waiting for: %s" what))
      (accept-process-output nil 0.1))))
(defun codes ()
  (mapconcat (lambda (d) (flymake-diagnostic-text d)) (flymake-diagnostics) "\n"))

(find-file "unsound.xta")
(call-interactively #'eglot)
(wait-for "the diagnostic" (lambda () (flymake-start) (string-match-p "sym/arithmetic\\|no arithmetic" (codes))))

(find-file "fischer-broken.xta")
(unless (eglot-managed-p) (call-interactively #'eglot))
(goto-char (point-min))
(search-forward "//@ query A[]")
(zonelens-verify)
(wait-for "the verdict" (lambda ()
  (string-match-p "^violated  A\\[\\]" (zonelens-status))))
(message "ok   emacs: diagnostic and verdict")
(let ((kill-emacs-hook nil)) (kill-emacs 0))
ELISP
cd "$work"
timeout 120 emacs --batch -l test.el
