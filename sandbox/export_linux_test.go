package sandbox

import "golang.org/x/sys/unix"

// AllowBrothers lets programs of this process make children of the agent, which the
// filter denies: what comes of them must be cleaned away all the same.
func AllowBrothers() { cloneDenied &^= unix.CLONE_PARENT }

// UserIDs is how many user ids an agent with so many slots has for its rooms.
func UserIDs(slots int) int { return uidCount(slots) }
