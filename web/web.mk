# What is taken from pinned npm packages at build time, for the binary to embed: the
# source editor as one file, temml, which renders formulas when a package is read, and
# its style sheet with a mathematical font. Their licences go along.
EDITOR := web/static/dist/editor.js
MATH := host/problem/statement/dist/temml.js web/static/dist/math.css

web/editor/node_modules/.package-lock.json: web/editor/package.json web/editor/package-lock.json web/editor/.npmrc
	cd web/editor && npm ci --no-progress
	@touch $@

$(EDITOR): web/editor/editor.js web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build

host/problem/statement/dist/temml.js: web/editor/node_modules/.package-lock.json
	cp web/editor/node_modules/temml/dist/temml.min.js $@
	cp web/editor/node_modules/temml/LICENSE $(@D)/temml-LICENSE.txt

web/static/dist/math.css: web/editor/math.css web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build:math
	cp web/editor/node_modules/temml/LICENSE $(@D)/temml-LICENSE.txt
	cp web/editor/node_modules/@fontsource/stix-two-math/LICENSE $(@D)/stix-two-math-LICENSE.txt
