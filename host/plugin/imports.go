package plugin

import (
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// wasiModule is the only module that guests may import from.
const wasiModule = "wasi_snapshot_preview1"

// wasiFunctions are the functions that guests may import. Sockets are not among
// them except the two that every Go program names; they fail, since no socket
// exists.
var wasiFunctions = map[string]wasiFunction{
	"args_get":                {"ii:i", (*world).argsGet},
	"args_sizes_get":          {"ii:i", (*world).argsSizesGet},
	"environ_get":             {"ii:i", (*world).nothing},
	"environ_sizes_get":       {"ii:i", (*world).environSizesGet},
	"clock_res_get":           {"ii:i", (*world).clockResGet},
	"clock_time_get":          {"iIi:i", (*world).clockTimeGet},
	"fd_advise":               {"iIIi:i", (*world).fdSync},
	"fd_allocate":             {"iII:i", (*world).fdAllocate},
	"fd_close":                {"i:i", (*world).fdClose},
	"fd_datasync":             {"i:i", (*world).fdSync},
	"fd_fdstat_get":           {"ii:i", (*world).fdFdstatGet},
	"fd_fdstat_set_flags":     {"ii:i", (*world).fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {"iII:i", (*world).nosys},
	"fd_filestat_get":         {"ii:i", (*world).fdFilestatGet},
	"fd_filestat_set_size":    {"iI:i", (*world).fdFilestatSetSize},
	"fd_filestat_set_times":   {"iIIi:i", (*world).fdSync},
	"fd_pread":                {"iiiIi:i", (*world).fdPread},
	"fd_prestat_get":          {"ii:i", (*world).fdPrestatGet},
	"fd_prestat_dir_name":     {"iii:i", (*world).fdPrestatDirName},
	"fd_pwrite":               {"iiiIi:i", (*world).fdPwrite},
	"fd_read":                 {"iiii:i", (*world).fdRead},
	"fd_readdir":              {"iiiIi:i", (*world).fdReaddir},
	"fd_renumber":             {"ii:i", (*world).fdRenumber},
	"fd_seek":                 {"iIii:i", (*world).fdSeek},
	"fd_sync":                 {"i:i", (*world).fdSync},
	"fd_tell":                 {"ii:i", (*world).fdTell},
	"fd_write":                {"iiii:i", (*world).fdWrite},
	"path_create_directory":   {"iii:i", (*world).nosys},
	"path_filestat_get":       {"iiiii:i", (*world).pathFilestatGet},
	"path_filestat_set_times": {"iiiiIIi:i", (*world).pathFilestatSetTimes},
	"path_link":               {"iiiiiii:i", (*world).nosys},
	"path_open":               {"iiiiiIIii:i", (*world).pathOpen},
	"path_readlink":           {"iiiiii:i", (*world).nosys},
	"path_remove_directory":   {"iii:i", (*world).nosys},
	"path_rename":             {"iiiiii:i", (*world).pathRename},
	"path_symlink":            {"iiiii:i", (*world).nosys},
	"path_unlink_file":        {"iii:i", (*world).pathUnlinkFile},
	"poll_oneoff":             {"iiii:i", (*world).pollOneoff},
	"proc_exit":               {"i:", (*world).procExit},
	"proc_raise":              {"i:i", (*world).nosys},
	"random_get":              {"ii:i", (*world).randomGet},
	"sched_yield":             {":i", (*world).nothing},
	"sock_accept":             {"iii:i", (*world).badf},
	"sock_shutdown":           {"ii:i", (*world).badf},
}

// wasiFunction is one of them.
type wasiFunction struct {
	types string // parameters and results: i is a 32-bit number, I a 64-bit one
	call  func(w *world, m api.Memory, p []uint64) errno
}

// offeredImports lists the functions for a remedy.
func offeredImports() string {
	return strings.Join(slices.Sorted(maps.Keys(wasiFunctions)), " ")
}

// signature writes a function type the way [wasiFunctions] does. Types that WASI
// has not are question marks.
func signature(params, results []byte) string {
	letters := func(types []byte) string {
		s := make([]byte, len(types))
		for i, t := range types {
			switch t {
			case typeI32:
				s[i] = 'i'
			case typeI64:
				s[i] = 'I'
			default:
				s[i] = '?'
			}
		}
		return string(s)
	}
	return letters(params) + ":" + letters(results)
}
