# What is taken from pinned npm packages at build time, for the binary to embed: the
# source editor as one file, temml, which renders formulas when a package is read, and
# its style sheet with a mathematical font, and what knows weak passwords. Their licences go along.
#
# Scripts are embedded as gzip makes them, since most of them is never looked at, and browsers take them so.
EDITOR := web/static/dist/editor.js.gz
ZXCVBN := host/people/strength/dist/zxcvbn.js.gz
MATH := host/problem/statement/dist/temml.js.gz web/static/dist/math.css

web/editor/node_modules/.package-lock.json: web/editor/package.json web/editor/package-lock.json web/editor/.npmrc
	cd web/editor && npm ci --no-progress
	@touch $@

$(EDITOR): web/editor/editor.js web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build
	gzip -9nf $(@:.gz=)

host/problem/statement/dist/temml.js.gz: web/editor/node_modules/.package-lock.json
	gzip -9nc web/editor/node_modules/temml/dist/temml.min.js > $@
	rm -f $(@:.gz=)
	cp web/editor/node_modules/temml/LICENSE $(@D)/temml-LICENSE.txt

$(ZXCVBN): web/editor/zxcvbn.js web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build:zxcvbn
	gzip -9nf $(@:.gz=)
	cp web/editor/node_modules/@zxcvbn-ts/core/LICENSE* $(@D)/zxcvbn-LICENSE.txt

web/static/dist/math.css: web/editor/math.css web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build:math
	cp web/editor/node_modules/temml/LICENSE $(@D)/temml-LICENSE.txt
	cp web/editor/node_modules/@fontsource/stix-two-math/LICENSE $(@D)/stix-two-math-LICENSE.txt

# What is made of the description of the API for tests and lint: by strangers' tools at pinned versions, with nothing
# said but the name of a package. Nothing of it is in the binary.
DESCRIPTION := .build/openapi-served.json
OAPI_CODEGEN := go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
GENERATED := .build/client/submit web/describe/generated/submit.mjs

web/describe/node_modules/.package-lock.json: web/describe/package.json web/describe/package-lock.json web/describe/.npmrc
	cd web/describe && npm ci --no-progress
	@touch $@

$(DESCRIPTION): go.mod $(GO_FILES) $(EDITOR) $(MATH)
	@mkdir -p $(@D)
	go run ./web/describe served > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi # what is made of it stays while it says the same

.build/client/submit: $(DESCRIPTION) web/describe/submit.go .tools/client.mod .tools/client.sum
	@mkdir -p $(@D)
	$(OAPI_CODEGEN) -package main -o $(@D)/api.gen.go $(DESCRIPTION)
	cp web/describe/submit.go $(@D)/
	go build -trimpath -modfile=.tools/client.mod -o $@ $(@D)/api.gen.go $(@D)/submit.go

web/describe/generated/submit.mjs: $(DESCRIPTION) web/describe/submit.mts web/describe/node_modules/.package-lock.json
	@mkdir -p $(@D)
	cd web/describe && npm run --silent types -- ../../$(DESCRIPTION) -o generated/api.d.ts > /dev/null && npm run --silent compile

.PHONY: lint-api
lint-api: $(DESCRIPTION) web/describe/node_modules/.package-lock.json ## Hold the description of the API against redocly's recommended rules
	cd web/describe && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npm run --silent lint -- ../../$(DESCRIPTION)
