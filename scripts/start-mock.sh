#!/usr/bin/env bash
# Starts the mock for the other steps of a GitHub job, which ends it with the job. Run by action.yml.
set -euo pipefail
log=$RUNNER_TEMP/catalogue-mock.log
first=$RUNNER_TEMP/catalogue-mock.json
# The flags are split at spaces and line breaks, but never expanded or run. At the end of the text, read exits with 1.
read -rd '' -a flags <<<"$MOCK_FLAGS" || true
for flag in ${flags[@]+"${flags[@]}"}; do
  if [ "$flag" = -- ]; then
    echo "flags must not contain --, after which a command would run" >&2
    echo "Remove it. To run a command against the mock, add a step after this one." >&2
    exit 2
  fi
done
nohup node "$MOCK_PROGRAM" serve --mock --json --port "$MOCK_PORT" ${flags[@]+"${flags[@]}"} >"$first" 2>"$log" </dev/null &
mock=$!
for _ in $(seq 300); do
  if [ -s "$first" ]; then break; fi
  if ! kill -0 "$mock" 2>/dev/null; then
    cat "$log" >&2
    exit 1
  fi
  sleep 0.1
done
# The values of the JSON line: neither contains a quote.
value() { sed -nE "s/.*\"$1\":\"([^\"]*)\".*/\1/p" "$first"; }
base_url=$(value base_url)
if [ -z "$base_url" ]; then
  echo "the mock did not start within 30 s; see $log" >&2
  exit 1
fi
api_key=$(value api_key)
# The random key of a copy of a catalogue stays out of the log; ak_mock is public.
if [ "$api_key" != ak_mock ]; then echo "::add-mask::$api_key"; fi
printf 'base-url=%s\napi-key=%s\n' "$base_url" "$api_key" >>"$GITHUB_OUTPUT"
printf 'CAT_BASE_URL=%s\nCAT_API_KEY=%s\n' "$base_url" "$api_key" >>"$GITHUB_ENV"
echo "Mock service running at $base_url"
