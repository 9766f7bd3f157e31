# The web console: TypeScript with Preact, built by Vite into console/dist, which is committed. Needs Node 20.19 or newer; the tests need
# Chromium too, with a font that has Chinese, and install both where they are missing and may.

NPM      ?= npm
CHROMIUM ?= /usr/bin/chromium

console/node_modules: console/package-lock.json console/package.json
	@command -v $(NPM) >/dev/null || { echo "the console is built by Node 20 with npm: install them"; exit 1; }
	cd console && $(NPM) ci --no-fund --no-audit --loglevel=error && touch node_modules

$(CHROMIUM):
	@[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install chromium and fonts-noto-cjk, or say where Chromium is: CHROMIUM=PATH"; exit 1; }
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null

.PHONY: console
console: console/node_modules ## Build the web console again, from pinned sources
	cd console && $(NPM) run -s check && $(NPM) run -s build

.PHONY: console-check
console-check: console/node_modules ## Fail when console/dist is not what its sources make
	@built=$$(mktemp -d) && trap 'rm -rf "$$built"' EXIT && cd console && $(NPM) run -s check && \
	for of in users operators; do node_modules/.bin/vite build --logLevel error --mode $$of --outDir "$$built/$$of" --emptyOutDir || exit 1; done && \
	diff -r "$$built" dist && echo "console/dist is what its sources make"

.PHONY: console-test
console-test: build console/node_modules $(CHROMIUM) ## Try the console in Chromium, on a brine dev of its own
	cd console && CHROMIUM=$(CHROMIUM) BRINE=../$(BIN) $(NPM) run -s test

bench-console: $(CHROMIUM)

.PHONY: console-pictures
console-pictures: ## Make the pictures of docs/console.md again
	PICTURES=1 $(MAKE) -s console-test

.PHONY: console-film
console-film: build console/node_modules $(CHROMIUM) ## Make the pictures of a hot region on real servers, for docs/console.md (needs Java 17 and Maven)
	@$(DEVCLUSTER) up kafka hbase elasticsearch && { [ -x /usr/sbin/mariadbd ] || $(DEVCLUSTER) fetch mariadb; }
	cd console && CHROMIUM=$(CHROMIUM) BRINE=../$(BIN) node test/film.mjs
