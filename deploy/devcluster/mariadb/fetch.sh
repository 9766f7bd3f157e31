# shellcheck shell=bash
# MariaDB's server from the packages of a Debian, unpacked and not installed. Tests start it, each with data of its own. devcluster sources
# this file.

fetch_mariadb() {
  local name packages
  command -v apt-get >/dev/null || die "mariadb: there is no apt-get here to bring its packages with; install MariaDB's server"
  mapfile -t packages <"$here/mariadb/packages"
  [[ -e /var/lib/apt/lists/lock && -n $(ls /var/lib/apt/lists/*Packages* 2>/dev/null) ]] || apt-get update -qq
  mkdir -p "$1/packages"
  (cd "$1/packages" && apt-get download -qq "${packages[@]}" 2>/dev/null) || die "mariadb: its packages (${packages[*]}) cannot be downloaded"
  for name in "$1/packages"/*.deb; do dpkg-deb -x "$name" "$1"; done
  rm -r "$1/packages"
}
