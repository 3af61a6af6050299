package wasi

import (
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// Module is the only module that guests may import from.
const Module = "wasi_snapshot_preview1"

// Functions are the functions that guests may import. Sockets are not among
// them except the two that every Go program names; they fail, since no socket
// exists.
var Functions = map[string]Function{
	"args_get":                {"ii:i", (*World).argsGet},
	"args_sizes_get":          {"ii:i", (*World).argsSizesGet},
	"environ_get":             {"ii:i", (*World).nothing},
	"environ_sizes_get":       {"ii:i", (*World).environSizesGet},
	"clock_res_get":           {"ii:i", (*World).clockResGet},
	"clock_time_get":          {"iIi:i", (*World).clockTimeGet},
	"fd_advise":               {"iIIi:i", (*World).fdSync},
	"fd_allocate":             {"iII:i", (*World).fdAllocate},
	"fd_close":                {"i:i", (*World).fdClose},
	"fd_datasync":             {"i:i", (*World).fdSync},
	"fd_fdstat_get":           {"ii:i", (*World).fdFdstatGet},
	"fd_fdstat_set_flags":     {"ii:i", (*World).fdFdstatSetFlags},
	"fd_fdstat_set_rights":    {"iII:i", (*World).nosys},
	"fd_filestat_get":         {"ii:i", (*World).fdFilestatGet},
	"fd_filestat_set_size":    {"iI:i", (*World).fdFilestatSetSize},
	"fd_filestat_set_times":   {"iIIi:i", (*World).fdSync},
	"fd_pread":                {"iiiIi:i", (*World).fdPread},
	"fd_prestat_get":          {"ii:i", (*World).fdPrestatGet},
	"fd_prestat_dir_name":     {"iii:i", (*World).fdPrestatDirName},
	"fd_pwrite":               {"iiiIi:i", (*World).fdPwrite},
	"fd_read":                 {"iiii:i", (*World).fdRead},
	"fd_readdir":              {"iiiIi:i", (*World).fdReaddir},
	"fd_renumber":             {"ii:i", (*World).fdRenumber},
	"fd_seek":                 {"iIii:i", (*World).fdSeek},
	"fd_sync":                 {"i:i", (*World).fdSync},
	"fd_tell":                 {"ii:i", (*World).fdTell},
	"fd_write":                {"iiii:i", (*World).fdWrite},
	"path_create_directory":   {"iii:i", (*World).nosys},
	"path_filestat_get":       {"iiiii:i", (*World).pathFilestatGet},
	"path_filestat_set_times": {"iiiiIIi:i", (*World).pathFilestatSetTimes},
	"path_link":               {"iiiiiii:i", (*World).nosys},
	"path_open":               {"iiiiiIIii:i", (*World).pathOpen},
	"path_readlink":           {"iiiiii:i", (*World).nosys},
	"path_remove_directory":   {"iii:i", (*World).nosys},
	"path_rename":             {"iiiiii:i", (*World).pathRename},
	"path_symlink":            {"iiiii:i", (*World).nosys},
	"path_unlink_file":        {"iii:i", (*World).pathUnlinkFile},
	"poll_oneoff":             {"iiii:i", (*World).pollOneoff},
	"proc_exit":               {"i:", (*World).procExit},
	"proc_raise":              {"i:i", (*World).nosys},
	"random_get":              {"ii:i", (*World).randomGet},
	"sched_yield":             {":i", (*World).nothing},
	"sock_accept":             {"iii:i", (*World).badf},
	"sock_shutdown":           {"ii:i", (*World).badf},
}

// Function is one of them.
type Function struct {
	Types string // parameters and results: i is a 32-bit number, I a 64-bit one
	call  func(w *World, m api.Memory, p []uint64) errno
}

// Offered lists the functions for a remedy.
func Offered() string {
	return strings.Join(slices.Sorted(maps.Keys(Functions)), " ")
}
