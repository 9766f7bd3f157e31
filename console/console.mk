# The web console: TypeScript with Preact, built by Vite into console/dist, which is committed. Needs Node 20; the tests need Chromium too.

NPM      ?= npm
CHROMIUM ?= /usr/bin/chromium

console/node_modules: console/package-lock.json console/package.json
	cd console && $(NPM) ci --no-fund --no-audit --loglevel=error && touch node_modules

.PHONY: console
console: console/node_modules ## Build the web console again, from pinned sources
	cd console && $(NPM) run -s check && $(NPM) run -s build

.PHONY: console-check
console-check: console/node_modules ## Fail when console/dist is not what its sources make
	@built=$$(mktemp -d) && trap 'rm -rf "$$built"' EXIT && cd console && $(NPM) run -s check && \
	for of in users operators; do node_modules/.bin/vite build --logLevel error --mode $$of --outDir "$$built/$$of" --emptyOutDir || exit 1; done && \
	diff -r "$$built" dist && echo "console/dist is what its sources make"

.PHONY: console-test
console-test: build console/node_modules ## Try the console in Chromium, on a brine dev of its own
	cd console && CHROMIUM=$(CHROMIUM) BRINE=../$(BIN) $(NPM) run -s test

.PHONY: console-pictures
console-pictures: ## Make the pictures of docs/console.md again
	PICTURES=1 $(MAKE) -s console-test
