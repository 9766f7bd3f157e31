#!/usr/bin/env bash
# Has schemathesis ask the API of a brine dev in the name of each role, by the document that the role is served: no answer is a 5xx, or
# outside the document, and nobody is let in by a token that is none. SECONDS_EACH (20) is for each role.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=4.32.5 each=${SECONDS_EACH:-20} venv=${API_TEST_VENV:-.cache/schemathesis}
dir=$(mktemp -d) dev=
trap '[ -z "$dev" ] || kill "$dev" 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT

if [ "$("$venv/bin/python" -c 'import importlib.metadata as m; print(m.version("schemathesis"))' 2>/dev/null)" != "$version" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q "schemathesis==$version"
fi

CGO_ENABLED=0 go build -o "$dir/brine" ./cmd/brine
"$dir/brine" dev --data "$dir/data" >"$dir/dev.log" 2>&1 &
dev=$!
for _ in $(seq 600); do
  grep -q 'Ctrl-C stops' "$dir/dev.log" && break
  kill -0 "$dev" || { cat "$dir/dev.log"; exit 1; }
  sleep 0.2
done
users=$(grep -oE 'HTTP API on http://[^/]+' "$dir/dev.log" | grep -oE 'http.*')
operators=$(grep -oE 'API: http://[^/]+' "$dir/dev.log" | grep -oE 'http.*')

field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
# ask ROLE URL checks one listener as an account of brine dev.
ask() {
  local role=$1 url=$2 token password
  password=$(awk -v role="$role" '$1 == role { print $2; exit }' "$dir/dev.log")
  curl -sf -o /dev/null -c "$dir/$role" -H 'Content-Type: application/json' -d "{\"name\": \"$role\", \"password\": \"$password\"}" "$users/api/v1/session"
  token=$(curl -sf -b "$dir/$role" -H 'Content-Type: application/json' "$users/api/v1/me/tokens" \
    -d "{\"name\": \"test\", \"role\": \"$role\", \"expires\": \"$(date -u -d '+1 day' +%Y-%m-%dT%H:%M:%SZ)\"}" | field token)
  curl -sf -H "Authorization: Bearer $token" "$url/api/v1/openapi.json" >"$dir/openapi.json"
  printf '\n== %s on %s\n' "$role" "$url"
  SCHEMATHESIS_HOOKS=hooks PYTHONPATH=serve/apitest "$venv/bin/st" --config-file serve/apitest/schemathesis.toml run "$dir/openapi.json" -u "$url" \
    -H "Authorization: Bearer $token" -H 'Brine-Reason: api-test' -c all --phases examples,coverage,fuzzing,stateful -n 20 \
    --max-time "$each" --seed 1 --suppress-health-check all --no-color
}
failed=0
ask customer "$users" || failed=1
ask support "$users" || failed=1
ask admin "$operators" || failed=1
exit $failed
