package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"deepoj/host/embedded"
)

// What is in a data folder. Nothing else may be in one that changes its owner.
var (
	dataNames = []string{"postgres", "redis", "blobs", "cache", "journal", InstanceFile, InstanceFile + ".new"}
	diskNames = []string{"lost+found"} // of a file system that is the data folder
)

// deepest is how many folders a data folder has one in another at most.
const deepest = 64

// takeover gives a data folder to an account. Who owned it may still change it meanwhile, so that everything is opened
// once, without following links, and judged and given away by its descriptor.
type takeover struct {
	to    *embedded.Account
	given int      // files and folders
	links []string // that lead elsewhere, where nothing is given away
}

// takeOver makes the account a the owner of the data folder and of all that is in it. Folders of versions before belong
// to whoever called sudo, or to another service's account. The folder itself changes hands last, so that a start that
// was killed on the way is begun again by the next one.
func takeOver(ctx context.Context, data string, a *embedded.Account, log *slog.Logger) error {
	fd, err := unix.Open(data, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("data folder %s: %w", data, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("data folder %s: %w", data, err)
	}
	if st.Uid == a.UID {
		return nil
	}
	names, err := namesIn(fd)
	if err != nil {
		return fmt.Errorf("data folder %s: %w", data, err)
	}
	if err := onlyData(data, names, a); err != nil {
		return err
	}
	if len(names) > 0 {
		release, err := embedded.Settle(ctx, filepath.Join(data, "postgres"), filepath.Join(data, "redis"))
		if err != nil {
			return fmt.Errorf("data folder %s belongs to %s and is to be %s's: %w", data, OwnerName(st.Uid), a.Name, err)
		}
		defer release()
		log.WarnContext(ctx, "taking over the data folder, which belongs to another account",
			slog.String("data", data), slog.String("from", OwnerName(st.Uid)), slog.String("to", a.Name))
	}
	t := &takeover{to: a}
	if err := t.give(fd, data, 0); err != nil {
		return fmt.Errorf("take over the data folder: %w; start again when that is mended, or give all of it away with: chown -R %s: %s", err, a.Name, data)
	}
	for _, l := range t.links {
		log.WarnContext(ctx, "a link in the data folder leads elsewhere, where everything keeps its owner: give away what is Deep-OJ's there with chown -R",
			slog.String("link", l), slog.String("to", a.Name))
	}
	if len(names) > 0 {
		log.InfoContext(ctx, "took over the data folder", slog.String("data", data), slog.Int("files", t.given))
	}
	return nil
}

// onlyData refuses a folder that holds something that no data folder does.
func onlyData(data string, names []string, a *embedded.Account) error {
	for _, name := range names {
		if !slices.Contains(dataNames, name) && !slices.Contains(diskNames, name) {
			return fmt.Errorf("data folder %s does not belong to the account %s, and is not given to it, for it is not Deep-OJ's alone: it holds %s; name another folder with --data, or move that away",
				data, a.Name, name)
		}
	}
	return nil
}

// namesIn returns what is in a folder.
func namesIn(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // with a place of its own to read at
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "folder")
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

// give gives the folder fd away, after all that is in it.
func (t *takeover) give(fd int, path string, depth int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if depth > deepest {
		return fmt.Errorf("%s: more than %d folders are one in another", path, deepest)
	}
	names, err := namesIn(fd)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range names {
		if err := t.giveEntry(fd, name, filepath.Join(path, name), st.Uid, depth); err != nil {
			return err
		}
	}
	return t.chown(fd, path, st)
}

// giveEntry gives away what is called name in the folder dir, whose owner is owner.
func (t *takeover) giveEntry(dir int, name, path string, owner uint32, depth int) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil // it was removed meanwhile
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		inside, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer unix.Close(inside)
		return t.give(inside, path, depth+1)
	case unix.S_IFREG:
		// Whoever owns a folder may have put another name of somebody's file there.
		if st.Nlink > 1 && st.Uid != owner && st.Uid != t.to.UID {
			return fmt.Errorf("%s has another name elsewhere (a hard link) and belongs to %s: remove it", path, OwnerName(st.Uid))
		}
	case unix.S_IFLNK:
		if to, err := os.Readlink(path); err == nil && (filepath.IsAbs(to) || strings.HasPrefix(to, "..")) {
			t.links = append(t.links, path+" -> "+to)
		}
	case unix.S_IFSOCK, unix.S_IFIFO:
	default:
		return fmt.Errorf("%s is a device: remove it", path)
	}
	return t.chown(fd, path, st)
}

// chown gives away what fd is open on, which st says.
func (t *takeover) chown(fd int, path string, st unix.Stat_t) error {
	if st.Uid == t.to.UID && st.Gid == t.to.GID {
		return nil
	}
	if err := unix.Fchownat(fd, "", int(t.to.UID), int(t.to.GID), unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("give %s to %s: %w", path, t.to.Name, err)
	}
	t.given++
	return nil
}
