# What is taken from pinned npm packages at build time, for the binary to embed: the
# source editor as one file, temml, which renders formulas when a package is read, and
# its style sheet with a mathematical font. Their licences go along.
#
# Scripts are embedded as gzip makes them, since most of them is never looked at, and browsers take them so.
EDITOR := web/static/dist/editor.js.gz
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

web/static/dist/math.css: web/editor/math.css web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build:math
	cp web/editor/node_modules/temml/LICENSE $(@D)/temml-LICENSE.txt
	cp web/editor/node_modules/@fontsource/stix-two-math/LICENSE $(@D)/stix-two-math-LICENSE.txt
