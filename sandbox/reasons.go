package sandbox

// The reasons for which an agent is replaced by another one.
const (
	ReplacedRoom   = "room"   // something that it had killed did not go
	ReplacedSilent = "silent" // it did not answer any more, and was killed
	ReplacedEnded  = "ended"  // it could not start, failed or was killed
)

// ReplacedReasons are all reasons for which an agent is replaced.
var ReplacedReasons = []string{ReplacedRoom, ReplacedSilent, ReplacedEnded}
