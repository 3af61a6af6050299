package judge

import (
	"fmt"
	"strings"
)

// Reason says why a write or a claim was refused. Reasons are few, so that they may be metric labels.
type Reason string

// The reasons. Those of a finalize are decided by the database.
const (
	ReasonMissingField     Reason = "missing_field"
	ReasonPayload          Reason = "payload_missing_or_invalid"
	ReasonClaimReject      Reason = "db_claim_reject"
	ReasonDBError          Reason = "db_error"
	ReasonLeaseLost        Reason = "lease_lost"
	ReasonHeartbeatError   Reason = "db_error_heartbeat"
	ReasonStaleAttempt     Reason = "stale_attempt"
	ReasonAlreadyFinished  Reason = "already_finished"
	ReasonUnexpectedState  Reason = "not_in_expected_state"
	ReasonOwnerMismatch    Reason = "lease_lost_or_owner_mismatch"
	ReasonCancelled        Reason = "cancelled"
	ReasonNotFound         Reason = "not_found"
	ReasonDoneOrStale      Reason = "done_or_stale"
	ReasonLeaseStillValid  Reason = "lease_still_valid"
	ReasonAckError         Reason = "xack_error"
	ReasonNoLiveWorker     Reason = "no_live_worker"
	ReasonUnfitWorkers     Reason = "unfit_workers"
	ReasonQueueFull        Reason = "queue_full"
	ReasonImmediateCantMov Reason = "immediate_cannot_move"
)

// RejectedError says that a fenced write changed nothing, and why. It is a
// decision, not a failure: the caller acknowledges the message and moves on.
type RejectedError struct {
	JobID     int64
	AttemptID int32 // the attempt that asked
	Reason    Reason

	// What the database holds, for the log.
	DBAttemptID  int32
	DBStatus     Status
	DBState      State
	DBLeaseOwner string
	DBLeaseUntil string
}

func (e *RejectedError) Error() string {
	return fmt.Sprintf("job %d attempt %d: rejected: %s (database has attempt %d, %s)",
		e.JobID, e.AttemptID, e.Reason, e.DBAttemptID, e.DBStatus)
}

// FieldError says which field of a request is wrong and how to mend it. The web side turns it into a problem document.
type FieldError struct {
	Field  string // the field's name as the caller wrote it, such as "language"
	Reason string // short and stable, such as "unknown" or "too_long"
	Remedy string // a sentence for people

	// Format and Args are what Remedy was made of, for whoever says it in another language.
	Format string
	Args   []any
}

// Names are what a sentence lists. Other languages than English put other signs between them.
type Names []string

func (n Names) String() string { return strings.Join(n, ", ") }

// Listed returns the names one by one.
func (n Names) Listed() []string { return n }

// Wrong makes a field error; the text is a sentence for people.
func Wrong(field, reason, format string, args ...any) *FieldError {
	e := &FieldError{Field: field, Reason: reason, Remedy: format, Format: format, Args: args}
	if len(args) > 0 {
		e.Remedy = fmt.Sprintf(format, args...)
	}
	return e
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Remedy }
