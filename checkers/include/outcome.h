// What a checker can say, whatever dialect it says it in.
//
// A checker ends by calling finish, exactly once, from anywhere. The dialect's
// header (testlib1.h or icpc1.h) defines it. Where the exit code of ACCEPTED is 0,
// main may return it instead: that is quicker, since a guest that exits in the
// middle has to be unwound.
#ifndef DEEPOJ_OUTCOME_H
#define DEEPOJ_OUTCOME_H

enum outcome {
	ACCEPTED,
	WRONG,
	PRESENTATION, // the right words in the wrong layout
	FAILED,       // the judge's fault: a bad flag, a missing file, a bad answer
};

// finish ends the checker. The team may read `team`, so it never holds a piece
// of the answer; `staff` may be empty or say more.
_Noreturn static void finish(enum outcome outcome, const char *team, const char *staff);

#endif
