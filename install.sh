#!/bin/sh
# Installs catalogue for you alone: without Node, without root, for Linux and macOS. What it does is below `usage`.
set -eu
unset CDPATH # With it, cd prints folders.

# OWNER is filled in before the first release, as in package.json.
releases=https://example.com/OWNER/catalogue/releases

usage() {
  printf '%s\n' \
    "usage: install.sh [--version VERSION] [--from PLACE] [--to FOLDER] [--bin FOLDER] [--no-cat]" \
    "" \
    "Installs catalogue for you, or the newest version of it. Node is not needed." \
    "" \
    "  --version VERSION  this version (default: the newest)" \
    "  --from PLACE       folder or URL with SHA256SUMS and the archives (default: the releases of the project)" \
    "  --to FOLDER        where the program is kept (default: ~/.local/lib/catalogue)" \
    "  --bin FOLDER       where catalogue and cat are linked (default: ~/.local/bin)" \
    "  --no-cat           link catalogue alone: cat stays that of the system in all folders" \
    "  --help             show this"
}

fail() { # message, next step
  printf 'error: %s\n%s\n' "$1" "$2" >&2
  exit 1
}

platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64 | Linux-amd64) echo linux-x64 ;;
    Linux-aarch64 | Linux-arm64) echo linux-arm64 ;;
    Darwin-x86_64) echo macos-x64 ;;
    Darwin-arm64) echo macos-arm64 ;;
  esac
}

download() { # URL, file
  if command -v curl >/dev/null; then
    curl -fsSL --proto-redir =https -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    echo "neither curl nor wget is installed" >&2
    return 1
  fi
}

fetch() { # name: from $from into $new
  case $from in
    http://* | https://*) download "$from/$1" "$new/$1" ;;
    *) cp "$from/$1" "$new/$1" ;;
  esac 2>"$new/problem" ||
    fail "cannot get $1 from $from: $(sed -n '$p' "$new/problem")" \
      "Check the address and your network, or use --from FOLDER."
}

sha256() { # file
  if command -v sha256sum >/dev/null; then sha256sum "$1"
  elif command -v shasum >/dev/null; then shasum -a 256 "$1"
  else openssl dgst -sha256 -r "$1"
  fi | sed 's/^\\*\([0-9a-f]*\).*/\1/'
}

need_tools() {
  missing=''
  for tool in grep sed tar gzip; do command -v $tool >/dev/null || missing="$missing $tool"; done
  command -v sha256sum >/dev/null || command -v shasum >/dev/null || command -v openssl >/dev/null ||
    missing="$missing sha256sum"
  [ -z "$missing" ] || fail "not installed:$missing" "Install what is missing, and run this again."
}

may_link() { # path: missing, or a link that this script has made
  if [ -L "$1" ]; then
    case $(readlink "$1") in "$to"/*) return ;; esac
  elif [ ! -e "$1" ]; then return
  fi
  fail "$1 exists and is not from this installer" "Remove it, or choose another folder with --bin FOLDER."
}

link() { # target, path: never missing in between
  ln -s "$1" "$2.new.$$"
  mv -f "$2.new.$$" "$2"
}

main() {
  version='' from='' to='' bin='' names='catalogue cat'
  while [ $# -gt 0 ]; do
    case $1 in
      --help | -h) usage; exit 0 ;;
      --no-cat) names=catalogue ;;
      --version | --from | --to | --bin)
        [ $# -gt 1 ] && [ -n "$2" ] || fail "$1 needs a value" "Show the options: install.sh --help"
        path=${2%/}
        case $1 in --version) version=${2#v} ;; --from) from=${path:-/} ;; --to) to=${path:-/} ;; --bin) bin=${path:-/} ;; esac
        shift ;;
      *) fail "unknown option $1" "Show the options: install.sh --help" ;;
    esac
    shift
  done
  [ -n "$to" ] && [ -n "$bin" ] || [ -n "${HOME:-}" ] ||
    fail "HOME is not set" "Set it to your folder, or use --to FOLDER and --bin FOLDER."
  to=${to:-${HOME:-}/.local/lib/catalogue} bin=${bin:-${HOME:-}/.local/bin}
  case $from in
    '') from=$releases/${version:+download/v$version}; [ -n "$version" ] || from=${from}latest/download ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    http://*) fail "$from is not encrypted: others could change the program on its way" \
      "Use https://, or download the files and use --from FOLDER." ;;
    *) from=$(cd "$from" 2>/dev/null && pwd) || fail "--from is not a folder or a URL" "Choose the folder that has SHA256SUMS." ;;
  esac
  platform=$(platform)
  [ -n "$platform" ] || fail "no portable program for $(uname -s) on $(uname -m)" \
    "Install Node 20.19 or newer, then the package with npm."

  need_tools
  mkdir -p "$to" "$bin" && [ -w "$to" ] && [ -w "$bin" ] ||
    fail "cannot write to $to and $bin" "Choose folders of your own with --to and --bin."
  to=$(cd "$to" && pwd) bin=$(cd "$bin" && pwd)
  for name in $names; do may_link "$bin/$name"; done
  new=$(mktemp -d "$to/.new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch SHA256SUMS
  line=$(grep -E "^[0-9a-f]{64}  catalogue-${version:-[0-9][0-9A-Za-z.+-]*}-$platform\.tar\.gz\$" "$new/SHA256SUMS") &&
    [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] ||
    fail "SHA256SUMS of $from does not have one archive ${version:+of version $version }for $platform" \
      "Choose a version of the releases page with --version."
  archive=${line#*  }
  printf 'Getting %s from %s\n' "$archive" "$from"
  fetch "$archive"
  [ "$(sha256 "$new/$archive")" = "${line%% *}" ] ||
    fail "$archive is cut or changed: its SHA-256 is not the one in SHA256SUMS; nothing was installed" \
      "Run this again. If it fails again, report it."
  folder=${archive%.tar.gz}
  tar -xzof "$new/$archive" -C "$new" || fail "cannot unpack $archive" "Check the free space of $to, and run this again."
  installed=$("$new/$folder/catalogue" --version 2>"$new/problem") ||
    fail "$archive does not start here: $(sed -n 1p "$new/problem")" \
      "It needs glibc 2.28 or macOS 14. Elsewhere install Node 20.19 or newer, then the package with npm."
  place "$folder"

  printf 'Installed %s in %s\n' "$installed" "$to/$folder"
  case :$PATH: in
    *":$bin:"*) printf 'Try it: catalogue products list --mock\n' ;;
    *)
      printf 'Add this line to ~/.profile (on macOS ~/.zprofile), and open another terminal:\n'
      printf '  export PATH="%s:$PATH"\n' "$bin" ;;
  esac
}

unlink_ours() { # path
  case $(readlink "$1" || :) in "$to"/*) rm -f "$1" ;; esac
}

# Puts the new folder and its links where they belong. The version before stays, as a command of it may be running.
place() { # folder
  trap '' HUP INT TERM # Stopped between two of these lines, it would leave no program.
  before=$(readlink "$bin/catalogue" || :)
  if [ -e "$to/$1" ]; then mv "$to/$1" "$new/before" || [ ! -e "$to/$1" ]; fi
  mv "$new/$1" "$to/$1"
  # Another run of this script was faster, and this folder is now in its own.
  rm -rf "${to:?}/$1/$1"
  for name in $names; do link "$to/$1/$name" "$bin/$name"; done
  if [ "$names" = catalogue ]; then unlink_ours "$bin/cat"; fi
  # The folder may have others of the user.
  for old in "$to"/catalogue-[0-9]*-"$platform"; do
    case $before in "$old"/*) continue ;; esac
    [ "$old" = "$to/$1" ] || rm -rf "$old"
  done
  # Where man looks for pages of the programs in ~/.local/bin. The program works without them.
  pages=${bin%/*}/share/man/man1
  mkdir -p "$pages" 2>/dev/null && [ -w "$pages" ] || return 0
  for page in "$pages"/cat*.1; do unlink_ours "$page"; done
  for page in "$to/$1"/man/man1/*.1; do
    [ -e "$pages/${page##*/}" ] || ln -s "$page" "$pages/${page##*/}" 2>/dev/null || :
  done
}

main "$@"
