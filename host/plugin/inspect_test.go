package plugin_test

import (
	"slices"
	"testing"

	"deepoj/host/plugin"
)

func TestAModuleIsInspectedWithoutBeingCalled(t *testing.T) {
	i := plugin.Inspect(buildC(t, "probe"))
	if i.Refusal != nil || i.Functions < 50 || i.MemoryKiB < 64 || i.Size < 10_000 || len(i.Digest) != len("sha256:")+64 {
		t.Errorf("got %+v", i)
	}
	if !slices.Contains(i.Imports, "wasi_snapshot_preview1.fd_write") || !slices.Contains(i.Exports, "_start") {
		t.Errorf("imports %q, exports %q", i.Imports, i.Exports)
	}
	i = plugin.Inspect(with(t, `{"judge":1,"kind":"checker","name":"own","version":"2.0","protocol":"testlib/1"}`))
	if i.Refusal != nil || i.Manifest == nil || i.Manifest.Name != "own" || !slices.Contains(i.Custom, "judge.manifest") {
		t.Errorf("got %+v", i)
	}
}

func TestWhatIsRefusedIsInspectedAsFarAsItCanBeRead(t *testing.T) {
	i := plugin.Inspect(bomb(t, "unknown-import"))
	if i.Refusal == nil || i.Refusal.Rule != "import" || !slices.Contains(i.Imports, "evil.syscall") {
		t.Errorf("got %+v", i)
	}
	for _, name := range []string{"vec-len-lie", "exports-1M", "locals-4G", "custom-len-lie", "name-sec-lie"} {
		if i := plugin.Inspect(bomb(t, name)); i.Refusal == nil {
			t.Errorf("%s is not refused: %+v", name, i)
		}
	}
	for _, wasm := range [][]byte{nil, []byte("\x00asm"), []byte("text")} {
		if i := plugin.Inspect(wasm); i.Refusal == nil || i.Refusal.Rule != "magic" {
			t.Errorf("%q: got %+v", wasm, i)
		}
	}
	whole := bomb(t, "loop")
	for n := range whole { // no prefix may harm
		plugin.Inspect(whole[:n])
	}
}
