package people

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"

	"deepoj/host/judge"
	"deepoj/sql"
)

// Cost of argon2id: 19 MiB, 2 passes, 1 lane, as OWASP recommends. The cost is
// part of every hash, so it may be raised without touching old ones.
const (
	argonMemory = 19 << 10 // KiB
	argonPasses = 2
	argonLanes  = 1
	argonKey    = 32 // bytes
	argonSalt   = 16 // bytes
)

// AbsentPassword is the hash of a password that nobody knows: of an account whose owner logs in elsewhere.
const AbsentPassword = "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnk" //nolint:gosec // of nothing

// Cost of the hash of a password that was made here: nobody tries 100 random bits, and a list may have thousands.
const (
	madeMemory = 8 // KiB, the least there is
	madePasses = 1
)

// MaxPassword bounds what is hashed, in bytes.
const MaxPassword = 1024

// ErrNoHash says that a stored password hash cannot be read.
var ErrNoHash = errors.New("not an argon2id hash")

// HashPassword returns the argon2id hash of a password in the PHC string format.
func HashPassword(password string) (string, error) {
	return hashPassword(password, argonMemory, argonPasses)
}

func hashPassword(password string, memory, passes uint32) (string, error) {
	if password == "" || len(password) > MaxPassword {
		return "", fmt.Errorf("a password has 1 to %d bytes, not %d", MaxPassword, len(password))
	}
	salt := make([]byte, argonSalt)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("make a salt: %w", err)
	}
	key := argon2.IDKey([]byte(password), salt, passes, memory, argonLanes, argonKey)
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memory, passes, argonLanes,
		b64.EncodeToString(salt), b64.EncodeToString(key)), nil
}

// CheckPassword reports whether hash is that of password, in constant time. A cheap hash takes as long as any other:
// else who tries to log in would learn that there is such an account.
func CheckPassword(hash, password string) (bool, error) {
	var (
		version        int
		memory, passes uint32
		lanes          uint8
		rest           string
	)
	if n, err := fmt.Sscanf(hash, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &memory, &passes, &lanes, &rest); n != 5 || err != nil {
		return false, ErrNoHash
	}
	var parts [2]string
	for i := range rest {
		if rest[i] == '$' {
			parts = [2]string{rest[:i], rest[i+1:]}
			break
		}
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[0])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[1])
	if err1 != nil || err2 != nil || version != argon2.Version || len(want) < argonSalt || len(want) > 128 ||
		passes == 0 || lanes == 0 || memory > 1<<20 {
		return false, ErrNoHash
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, lanes, uint32(len(want)))
	if memory < argonMemory {
		_ = argon2.IDKey([]byte(password), salt, argonPasses, argonMemory, argonLanes, argonKey)
	}
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

// FirstName is the name of the first account.
const FirstName = "admin"

// FirstAdmin creates the account "admin" if there is no account at all: with the password that is given, or, where that
// is "", with a random one. It returns the random password, which nobody can read again and which has to be changed at
// the first login; "" if there is none.
func FirstAdmin(ctx context.Context, store *sql.Site, given string) (password string, err error) {
	n, err := store.CountUsers(ctx)
	if err != nil || n > 0 {
		return "", err
	}
	var hash string
	if given == "" {
		password, hash, err = OneTimePassword()
	} else {
		hash, err = HashPassword(given)
	}
	if err != nil {
		return "", err
	}
	if err := store.CreateUser(ctx, sql.NewUser{Name: FirstName, PasswordHash: hash, Role: judge.RoleAdmin, OneTime: given == ""}); err != nil {
		if errors.Is(err, sql.ErrExists) {
			return "", nil // another process was first
		}
		return "", fmt.Errorf("create the first account: %w", err)
	}
	return password, nil
}

// OneTimePassword makes a password to be given to somebody, and its hash.
func OneTimePassword() (password, hash string, err error) {
	if password, err = readablePassword(); err != nil {
		return "", "", err
	}
	if hash, err = HashPassword(password); err != nil {
		return "", "", err
	}
	return password, hash, nil
}

// MadePassword is [OneTimePassword] for one of many: its hash costs next to nothing.
func MadePassword() (password, hash string, err error) {
	if password, err = readablePassword(); err != nil {
		return "", "", err
	}
	if hash, err = hashPassword(password, madeMemory, madePasses); err != nil {
		return "", "", err
	}
	return password, hash, nil
}

// readable are 32 characters that nobody mistakes for another.
const readable = "abcdefghijkmnpqrstuvwxyz23456789"

// readablePassword makes a password of 100 random bits that can be typed.
func readablePassword() (string, error) {
	random := make([]byte, 20)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("make a password: %w", err)
	}
	var text []byte
	for i, b := range random {
		if i > 0 && i%5 == 0 {
			text = append(text, '-')
		}
		text = append(text, readable[int(b)%len(readable)])
	}
	return string(text), nil
}
