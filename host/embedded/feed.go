package embedded

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// FeedRole is the role that the change feed logs in as. It may replicate, and read what the program grants it: see
// package published.
const FeedRole = "deepoj_feed"

// feedMajor is the first version of PostgreSQL from which a feed reads.
const feedMajor = 15

// feedPassword is the file of the role's password, in the folder of the server.
const feedPassword = "feed-password"

// feed is what is known of the feed's role while there is one.
type feed struct{ password string }

// FeedDSN returns the address of the database for the change feed, with its password, or "" without a feed.
func (p *Postgres) FeedDSN() string {
	if p.feed.password == "" {
		return ""
	}
	u, err := url.Parse(p.address(FeedRole, postgresDatabase))
	if err != nil {
		return "" // it was made from a URL
	}
	u.User = url.UserPassword(FeedRole, p.feed.password)
	return u.String()
}

// level is the wal_level that the server will have.
func (p *Postgres) level() string {
	if level, set := p.cfg.Settings["wal_level"]; set {
		return level
	}
	if p.cfg.Feed {
		return "logical"
	}
	return settings["wal_level"]
}

// rules are those of the cluster: with a feed its role may log in as well, with the password that they note by a digest.
func (p *Postgres) rules() string {
	if p.feed.password == "" {
		return rules
	}
	sum := sha256.Sum256([]byte(p.feed.password))
	return rules + "# The change feed, by its password " + hex.EncodeToString(sum[:8]) + ".\n" +
		"local " + postgresDatabase + " " + FeedRole + " scram-sha-256\n"
}

// readyFeed reads the password of the feed's role, or makes one.
func (p *Postgres) readyFeed() error {
	if !p.cfg.Feed {
		return nil
	}
	if p.Binaries.Major < feedMajor {
		return fmt.Errorf("the change feed needs PostgreSQL %d or newer, and this is %s: install one and move the data there with pg_dump, or turn CHANGE_FEED off",
			feedMajor, p.Binaries.Version)
	}
	path := filepath.Join(p.cfg.DataDir, feedPassword)
	b, err := os.ReadFile(path)
	if err == nil {
		if p.feed.password = strings.TrimSpace(string(b)); len(p.feed.password) < 16 {
			return fmt.Errorf("%s holds no password: remove it, and another one is made", path)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	p.feed.password = rand.Text()
	return replaceFile(path, p.feed.password+"\n", p.cfg.User, p.durable())
}

// feedScript makes the role, or changes it to what it should be. What it may read is granted by the owner of the tables.
func feedScript(verifier string) string {
	return `DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '` + FeedRole + `') THEN
    CREATE ROLE ` + FeedRole + `;
  END IF;
  ALTER ROLE ` + FeedRole + ` LOGIN REPLICATION NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '` + verifier + `';
END $$;

`
}

// verifier is what PostgreSQL keeps of a password, from which it cannot be found out: see RFC 5803.
func verifier(password string) (string, error) {
	const rounds = 4096
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	mac := func(text string) []byte {
		m := hmac.New(sha256.New, salted)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	stored := sha256.Sum256(mac("Client Key"))
	text := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, text(salt), text(stored[:]), text(mac("Server Key"))), nil
}

// dropSlots is for a server for one user. A server without logical decoding does not start while there is a slot for it.
const dropSlots = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_type = 'logical';\n\n"

// mendFeed makes the role of the feed, if there is one. Without one it cannot log in.
func (p *Postgres) mendFeed(ctx context.Context) error {
	if !p.cfg.Feed {
		return nil
	}
	v, err := verifier(p.feed.password)
	if err != nil {
		return err
	}
	p.log.InfoContext(ctx, "giving the change feed a role in the database", slog.String("cluster", p.cluster))
	return p.single(ctx, p.cluster, postgresDatabase, feedScript(v), p.args(p.cluster)...)
}

// withoutSlots drops the slots of feeds if the server will be one without logical decoding: they would keep what nobody
// reads, and a feed that is turned on again begins with a snapshot.
func (p *Postgres) withoutSlots(ctx context.Context) error {
	if p.level() == "logical" {
		return nil
	}
	slots, err := os.ReadDir(filepath.Join(p.cluster, "pg_replslot"))
	if err != nil || len(slots) == 0 {
		return err
	}
	p.log.WarnContext(ctx, "dropping the slots of change feeds, since CHANGE_FEED is off: a feed that is turned on again begins with a snapshot",
		slog.String("cluster", p.cluster))
	if err := p.clear(ctx); err != nil {
		return err
	}
	return p.single(ctx, p.cluster, postgresDatabase, dropSlots, append(p.args(p.cluster), "-c", "wal_level=logical")...)
}
