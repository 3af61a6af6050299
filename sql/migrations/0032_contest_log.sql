-- min_binary: 17
-- What happened in each round, numbered for those who may know of it.

ALTER TABLE round_changes ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id(); -- the order of id is not that of commits
CREATE INDEX round_changes_feed ON round_changes (xid, id);

-- How far what happens was looked at for all logs. Nothing is kept for it that is old enough to be retired: a recorder
-- that begins looks at everything.
CREATE TABLE contest_cursors (
  source            text PRIMARY KEY,                      -- jobs or changes
  system_identifier text NOT NULL,                         -- of the cluster: tells a restored backup apart
  xid               xid8 NOT NULL,
  id                bigint NOT NULL DEFAULT 0
);
INSERT INTO contest_cursors (source, system_identifier, xid)
SELECT s.source, c.system_identifier::text, pg_snapshot_xmin(pg_current_snapshot()) FROM pg_control_system() c, (VALUES ('jobs'), ('changes')) s(source);

-- How far the log of each round is, and who of several processes writes it.
CREATE TABLE contest_recorders (
  round_id    bigint PRIMARY KEY REFERENCES rounds (id) ON DELETE CASCADE,
  seq         bigint NOT NULL DEFAULT 0,                   -- the last of the log
  public_seq  bigint NOT NULL DEFAULT 0,                   -- the last that everybody is told
  teams_seq   bigint NOT NULL DEFAULT 0,                   -- the last that every team is told
  shown       bigint NOT NULL DEFAULT 0,                   -- the last number of a submission that everybody is told of
  unshown     bigint NOT NULL DEFAULT 1000000000,          -- the last number of one that only the jury is told of
  wake_at     timestamptz                                  -- when time alone changes something; NULL = never
);
CREATE INDEX contest_recorders_wake ON contest_recorders (wake_at) WHERE wake_at IS NOT NULL;

-- What has to be looked at: a submission of a round, or all of it.
CREATE TABLE contest_due (
  round_id bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  job_id   bigint NOT NULL,                                -- 0 = everything
  PRIMARY KEY (round_id, job_id)
);

-- Insert-only. The numbers of each audience have no gaps, so that none tells of what is hidden.
CREATE TABLE contest_log (
  round_id         bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  seq              bigint NOT NULL,
  at               timestamptz NOT NULL,
  kind             text NOT NULL,
  object           text NOT NULL,
  data             json,                                   -- NULL = it is told no more
  audience         smallint NOT NULL,                      -- 1 everybody, 2 teams, 4 one participant alone, 8 jury, 16 staff
  only_participant bigint,                                 -- whom 4 means
  public_seq       bigint,
  teams_seq        bigint,
  own_seq          bigint,                                 -- of what only that participant, and no other, is told
  PRIMARY KEY (round_id, seq)
);
CREATE UNIQUE INDEX contest_log_public ON contest_log (round_id, public_seq) WHERE public_seq IS NOT NULL;
CREATE UNIQUE INDEX contest_log_teams ON contest_log (round_id, teams_seq) WHERE teams_seq IS NOT NULL;
CREATE UNIQUE INDEX contest_log_own ON contest_log (round_id, only_participant, own_seq) WHERE own_seq IS NOT NULL;

-- What was told last of everything, and whom.
CREATE TABLE contest_objects (
  round_id         bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  kind             text NOT NULL,
  object           text NOT NULL,
  submission       bigint,                                 -- the number of the submission it is about
  data             json NOT NULL,
  audience         smallint NOT NULL,
  only_participant bigint,
  PRIMARY KEY (round_id, kind, object)
);
CREATE INDEX contest_objects_submission ON contest_objects (round_id, submission) WHERE submission IS NOT NULL;

-- The numbers of submissions in their rounds.
CREATE TABLE contest_submissions (
  round_id bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  number   bigint NOT NULL,
  job_id   bigint NOT NULL UNIQUE,
  PRIMARY KEY (round_id, number)
);

-- Rounds that there are already.
INSERT INTO contest_recorders (round_id) SELECT id FROM rounds;
INSERT INTO contest_due (round_id, job_id) SELECT id, 0 FROM rounds;
