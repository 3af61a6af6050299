# What the web needs at build time: the source editor, bundled from pinned npm
# packages into one file that the binary embeds.
EDITOR := web/static/dist/editor.js

web/editor/node_modules/.package-lock.json: web/editor/package.json web/editor/package-lock.json web/editor/.npmrc
	cd web/editor && npm ci --no-progress
	@touch $@

$(EDITOR): web/editor/editor.js web/editor/node_modules/.package-lock.json
	cd web/editor && npm run --silent build
