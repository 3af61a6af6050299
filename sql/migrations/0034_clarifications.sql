-- min_binary: 17
-- What participants ask in a round, and what its jury answers and announces.

CREATE TABLE clarifications (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  round_id        bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  code            text NOT NULL,                           -- its name for everybody, which tells nothing of how many there are
  participant_id  bigint REFERENCES participants (id),     -- who asks; NULL = the jury speaks
  to_participants bigint[] NOT NULL DEFAULT '{}',          -- of the jury's: whom alone it is for
  to_groups       bigint[] NOT NULL DEFAULT '{}',          -- likewise; neither = everybody
  reply_to        bigint REFERENCES clarifications (id),
  problem         text,                                    -- NULL = in general
  text            text NOT NULL,
  by              text NOT NULL,                           -- the account
  at              timestamptz NOT NULL DEFAULT now(),
  closed_at       timestamptz,                             -- of a question: since when nobody waits for an answer
  UNIQUE (round_id, code),
  CONSTRAINT clarifications_asked CHECK (participant_id IS NULL OR (to_participants = '{}' AND to_groups = '{}' AND reply_to IS NULL))
);
CREATE INDEX clarifications_round ON clarifications (round_id, id);
CREATE INDEX clarifications_participant ON clarifications (participant_id) WHERE participant_id IS NOT NULL;
CREATE INDEX clarifications_reply ON clarifications (reply_to) WHERE reply_to IS NOT NULL;

-- What was told of each thing, for the audit, and of rounds themselves, for whoever goes on somewhere in a log.
CREATE INDEX contest_log_object ON contest_log (round_id, kind, object, seq);
