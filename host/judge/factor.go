package judge

import "time"

// Factors are what somebody proves besides a password, as far as it counts.
type Factors struct {
	TOTP     bool       // an authenticator app
	TOTPUsed *time.Time // last; nil = never
	Passkeys int        // how many
	Recovery int        // codes that are left

	// TakenOffBy took everything off at a time, and the owner has not been told; "" = nobody.
	TakenOffBy string
	TakenOff   time.Time
}

// Any reports whether a password alone lets nobody in.
func (f Factors) Any() bool { return f.TOTP || f.Passkeys > 0 }

// Passkey is a key pair whose private half an authenticator keeps (WebAuthn).
type Passkey struct {
	ID         int64
	Credential []byte // what the authenticator calls it
	User       string
	Label      string
	PublicKey  []byte   // as X.509 has it
	Transports []string // how browsers reach the authenticator
	SignCount  uint32   // of the last signature; 0 = does not count
	Created    time.Time
	LastUsed   *time.Time // nil = never
	Handle     []byte     // what it calls the account; not in lists
}
