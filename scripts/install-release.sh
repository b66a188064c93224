#!/usr/bin/env bash
# Unpacks the built package for start-mock.sh: a packed file, or a release of the action's repository. Run by action.yml.
# Nothing is compiled, and no script of a package runs. NODE_ENV changes nothing: users get no packages for development.
set -euo pipefail
own=$(cd "$(dirname "$0")/.." && pwd)
version_of() { node -p 'require(process.argv[1]).version' "$1/package.json"; }
is_built() { [ -f "$1/dist/program/hand-over.js" ]; }
fail() {
  printf '%s\n' "$@" >&2
  exit 2
}
if [ -n "$TARBALL" ] && [ -n "$VERSION" ]; then
  fail "version and tarball exclude each other" "Remove one of them."
elif [ -n "$TARBALL" ]; then
  case $TARBALL in
    https://*) package=$TARBALL ;;
    *)
      if [ ! -f "$TARBALL" ]; then
        fail "cannot find the file $TARBALL of tarball" "Use the path of a packed file (npm pack makes it), or an https:// URL."
      fi
      package=$(cd "$(dirname -- "$TARBALL")" && pwd)/$(basename -- "$TARBALL")
      ;;
  esac
elif [ -z "$VERSION" ] && is_built "$own"; then
  echo "Using the built clone in $own"
  echo "program=$own/bin/catalogue.js" >>"$GITHUB_OUTPUT"
  exit 0
else
  version=${VERSION#v}
  if [ -z "$version" ]; then version=$(version_of "$own"); fi
  if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    fail "version must be a release such as 0.1.0, not $VERSION" "To install a packed file, use tarball."
  fi
  if [ -z "${REPOSITORY:-}" ] && [ -n "$VERSION" ]; then
    fail "version cannot be used: this clone belongs to no repository with releases" \
      "Remove version to use this clone, or use tarball."
  elif [ -z "${REPOSITORY:-}" ]; then
    fail "this clone is not built, and belongs to no repository with releases" \
      "Run: npm ci --include=dev (in a step before this one), or use tarball."
  fi
  package=$GITHUB_SERVER_URL/$REPOSITORY/releases/download/v$version/catalogue-imaging-catalogue-$version.tgz
fi
# A folder for each use in a job: the mock of another one still runs from its own.
place=$(mktemp -d "$RUNNER_TEMP/catalogue-XXXXXX")
next="Check that the file exists, and that it can be read without signing in. Otherwise use tarball."
case $package in
  http*) curl -fsSL --retry 3 -o "$place/package.tgz" "$package" || fail "cannot get $package" "$next" ;;
  *) cp -- "$package" "$place/package.tgz" ;;
esac
cd "$place"
tar -xzf package.tgz --strip-components=1 && is_built . ||
  fail "$package is not a packed package" "Make one with: npm pack"
# The packages for this system: those that the release was tested with, if this clone is of the same one.
how=(install --omit=dev --no-package-lock)
if [ "$(version_of "$place")" = "$(version_of "$own")" ]; then
  cp "$own/package-lock.json" .
  how=(ci --omit=dev)
fi
if ! npm "${how[@]}" --include=optional --ignore-scripts --engine-strict --no-audit --no-fund; then
  fail "cannot install what $package needs" "Check that this machine has Node 20.19 or later, and can reach the registry."
fi
echo "program=$place/bin/catalogue.js" >>"$GITHUB_OUTPUT"
