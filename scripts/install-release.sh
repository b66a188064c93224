#!/usr/bin/env bash
# Installs the built package for start-mock.sh: a packed file, or a release of the action's repository. Run by action.yml.
# Nothing is compiled, and no script of a package runs. NODE_ENV changes nothing: users get no packages for development.
set -euo pipefail
own=$(cd "$(dirname "$0")/.." && pwd)
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
elif [ -z "$VERSION" ] && [ -f "$own/dist/program/hand-over.js" ]; then
  echo "Using the built clone in $own"
  exit 0
else
  version=${VERSION#v}
  if [ -z "$version" ]; then version=$(node -p 'require(process.argv[1]).version' "$own/package.json"); fi
  if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    fail "version must be a release such as 0.1.0, not $VERSION" "To install a packed file, use tarball."
  fi
  if [ -z "${REPOSITORY:-}" ]; then
    fail "this clone is not built, and belongs to no repository with releases" \
      "Run: npm ci --include=dev (in a step before this one), or use tarball."
  fi
  package=$GITHUB_SERVER_URL/$REPOSITORY/releases/download/v$version/catalogue-imaging-catalogue-$version.tgz
fi
# A folder of its own, so that no package.json or .npmrc of the job counts.
place=$RUNNER_TEMP/catalogue
mkdir -p "$place"
echo '{ "private": true }' >"$place/package.json"
cd "$place"
if ! npm install --ignore-scripts --include=optional --engine-strict --no-audit --no-fund --no-package-lock "$package"; then
  fail "cannot install $package" "Check that the release exists, and that its file can be read without signing in. Otherwise use tarball."
fi
