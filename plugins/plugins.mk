# Builds the plugins that ship with Deep-OJ. The top Makefile includes this file
# and every path here starts at the top of the repository.
#
#   plugins         the language adapters (Go to WebAssembly), one program with the manifest of each
#                   language, in one archive; not committed
#   checkers        the standard checkers (C to WebAssembly); committed, with
#                   their digests in plugins/dist/SHA256SUMS
#   verify-plugins  builds the checkers again elsewhere and compares digests
#
# Checkers are rebuilt only by asking for them, so that a clone needs no clang.

CHECKERS  := $(patsubst checkers/%/manifest.json,%,$(wildcard checkers/*/manifest.json))

CHECKER_WASM  := $(CHECKERS:%=plugins/dist/checker-%.wasm)
ADAPTERS      := plugins/dist/adapters.pack

GO ?= go
WASI_CC    ?= clang
WASI_FLAGS := --target=wasm32-wasi -msimd128 -std=gnu17 -O2 -Wall -Wextra -Werror -Icheckers/include \
	-Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=32768

.PHONY: plugins checkers verify-plugins clean-plugins

##@ Plugins

plugins: $(ADAPTERS) ## Build every language adapter, and pack them into plugins/dist

ADAPTER_SOURCES := $(filter-out %_test.go,$(wildcard \
	plugins/adapters/*.go plugins/languages/*.go plugins/languages/*/*.go plugins/sdk/go/*.go plugins/abi/*.go))

.build/adapters.wasm: $(ADAPTER_SOURCES) go.mod
	@mkdir -p $(@D)
	GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o $@ ./plugins/adapters
	@touch $@

$(ADAPTERS): .build/adapters.wasm $(filter-out %_test.go,$(wildcard plugins/archive/*.go plugins/pack/*.go))
	@mkdir -p .build/adapters
	CGO_ENABLED=0 $(GO) run ./plugins/pack $@ $< .build/adapters

checkers: plugins/dist/SHA256SUMS ## Build every standard checker into plugins/dist (needs clang)

plugins/dist/SHA256SUMS: $(CHECKER_WASM)
	cd plugins/dist && LC_ALL=C sha256sum $(notdir $(sort $^)) > SHA256SUMS

# $(1) is a checker, $(2) the folder to build into.
build_checker = $(WASI_CC) $(WASI_FLAGS) '-DMANIFEST="checkers/$(1)/manifest.json"' -o $(2)/checker-$(1).wasm \
	checkers/$(1)/*.c && chmod 0644 $(2)/checker-$(1).wasm

define checker_rule
plugins/dist/checker-$(1).wasm: $$(wildcard checkers/$(1)/*.c checkers/$(1)/manifest.json checkers/include/*.h)
	$$(call build_checker,$(1),plugins/dist)
endef
$(foreach checker,$(CHECKERS),$(eval $(call checker_rule,$(checker))))

verify-plugins: ## Build the standard checkers elsewhere and compare their digests
	mkdir -p .build/verify-plugins
	$(foreach checker,$(CHECKERS),$(call build_checker,$(checker),.build/verify-plugins) &&) \
		cd .build/verify-plugins && LC_ALL=C sha256sum --check --strict ../../plugins/dist/SHA256SUMS
	rm -r .build/verify-plugins

clean-plugins: ## Remove the language adapters that were built
	rm -rf $(ADAPTERS) .build/adapters .build/adapters.wasm

.PHONY: test-testlib
test-testlib: ## Compare all programs of testlib with their native builds (TESTLIB=folder of testlib)
	@test -n "$(TESTLIB)" || { echo 'say where testlib is: make test-testlib TESTLIB=DIR' >&2; exit 1; }
	TESTLIB=$(abspath $(TESTLIB)) DEEPOJ_TEST=require $(GO) test -count=1 -v -timeout 1h -run TestRealTestlib ./checkers
