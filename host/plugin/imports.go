package plugin

import (
	"maps"
	"slices"
	"strings"
)

// wasiModule is the only module that guests may import from.
const wasiModule = "wasi_snapshot_preview1"

// wasiFunctions are the functions that guests may import, with their parameters
// and results: i is a 32-bit number, I a 64-bit one. Sockets are not among them
// except the two that every Go program names; they fail, since no socket exists.
var wasiFunctions = map[string]string{
	"args_get":                "ii:i",
	"args_sizes_get":          "ii:i",
	"environ_get":             "ii:i",
	"environ_sizes_get":       "ii:i",
	"clock_res_get":           "ii:i",
	"clock_time_get":          "iIi:i",
	"fd_advise":               "iIIi:i",
	"fd_allocate":             "iII:i",
	"fd_close":                "i:i",
	"fd_datasync":             "i:i",
	"fd_fdstat_get":           "ii:i",
	"fd_fdstat_set_flags":     "ii:i",
	"fd_fdstat_set_rights":    "iII:i",
	"fd_filestat_get":         "ii:i",
	"fd_filestat_set_size":    "iI:i",
	"fd_filestat_set_times":   "iIIi:i",
	"fd_pread":                "iiiIi:i",
	"fd_prestat_get":          "ii:i",
	"fd_prestat_dir_name":     "iii:i",
	"fd_pwrite":               "iiiIi:i",
	"fd_read":                 "iiii:i",
	"fd_readdir":              "iiiIi:i",
	"fd_renumber":             "ii:i",
	"fd_seek":                 "iIii:i",
	"fd_sync":                 "i:i",
	"fd_tell":                 "ii:i",
	"fd_write":                "iiii:i",
	"path_create_directory":   "iii:i",
	"path_filestat_get":       "iiiii:i",
	"path_filestat_set_times": "iiiiIIi:i",
	"path_link":               "iiiiiii:i",
	"path_open":               "iiiiiIIii:i",
	"path_readlink":           "iiiiii:i",
	"path_remove_directory":   "iii:i",
	"path_rename":             "iiiiii:i",
	"path_symlink":            "iiiii:i",
	"path_unlink_file":        "iii:i",
	"poll_oneoff":             "iiii:i",
	"proc_exit":               "i:",
	"proc_raise":              "i:i",
	"random_get":              "ii:i",
	"sched_yield":             ":i",
	"sock_accept":             "iii:i",
	"sock_shutdown":           "ii:i",
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
