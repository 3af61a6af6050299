-- min_binary: 17
-- Rounds of spaces: contests and assignments with their times, problems and participants.

CREATE TABLE rounds (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space_id      bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  code          text NOT NULL UNIQUE CONSTRAINT rounds_code CHECK (code ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,34}[A-Za-z0-9_-]$'),
  title         text NOT NULL,
  formal_name   text NOT NULL DEFAULT '',
  kind          text NOT NULL CONSTRAINT rounds_kind CHECK (kind IN ('contest', 'assignment')),
  format        text NOT NULL CONSTRAINT rounds_format CHECK (format IN ('icpc', 'ioi')),
  settings      jsonb NOT NULL DEFAULT '{}',               -- of the format
  starts_at     timestamptz,                               -- NULL = nobody knows yet
  paused_ms     bigint,                                    -- what was left of the countdown when it was stopped; NULL = it was not
  duration_ms   bigint,                                    -- contest time; NULL = without end
  freeze_ms     bigint,                                    -- contest time from which on judgements are hidden; NULL = never
  thaw_at       timestamptz,                               -- planned
  thawed_at     timestamptz,
  finalized_at  timestamptz,
  finalized_by  text NOT NULL DEFAULT '',
  updates_end_at timestamptz,
  public_runs   boolean NOT NULL DEFAULT true,
  practice      boolean NOT NULL DEFAULT false,            -- problems stay open when it is over
  follows       boolean NOT NULL DEFAULT false,            -- times and problems are those of the space
  created_by    text NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT rounds_times CHECK (duration_ms > 0 AND freeze_ms >= 0 AND paused_ms >= 0 AND (paused_ms IS NULL OR starts_at IS NULL))
);
CREATE INDEX rounds_space ON rounds (space_id);

-- Intervals that were taken out of the time of a round. Those that were not given back do not overlap.
CREATE TABLE round_removed (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  round_id  bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  from_at   timestamptz NOT NULL,
  to_at     timestamptz NOT NULL,
  reason    text NOT NULL DEFAULT '',
  by        text NOT NULL,
  undone_at timestamptz,
  CONSTRAINT round_removed_times CHECK (from_at < to_at)
);
CREATE INDEX round_removed_round ON round_removed (round_id);

CREATE TABLE round_problems (
  round_id  bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  problem   text NOT NULL REFERENCES problems (slug),
  version   text NOT NULL DEFAULT '',                      -- '' = the live one
  place     integer NOT NULL,                              -- from 1 on
  label     text NOT NULL,
  points    double precision,
  rgb       text NOT NULL DEFAULT '' CONSTRAINT round_problems_rgb CHECK (rgb = '' OR rgb ~ '^#[0-9a-f]{6}$'),
  color     text NOT NULL DEFAULT '',
  paused_at timestamptz,
  PRIMARY KEY (round_id, problem),
  CONSTRAINT round_problems_label UNIQUE (round_id, label) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT round_problems_points CHECK (points >= 0)
);
CREATE INDEX round_problems_problem ON round_problems (problem);

CREATE TABLE organizations (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space_id    bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  code        text NOT NULL,
  icpc_id     text NOT NULL DEFAULT '',
  name        text NOT NULL,
  formal_name text NOT NULL DEFAULT '',
  country     text NOT NULL DEFAULT '',
  subdivision text NOT NULL DEFAULT '',
  url         text NOT NULL DEFAULT '',
  twitter     text NOT NULL DEFAULT '',
  UNIQUE (space_id, code)
);

CREATE TABLE team_groups (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space_id bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  code     text NOT NULL,
  icpc_id  text NOT NULL DEFAULT '',
  name     text NOT NULL,
  type     text NOT NULL DEFAULT '',
  ranked   boolean NOT NULL DEFAULT true,
  sort     integer NOT NULL DEFAULT 0,
  UNIQUE (space_id, code)
);

CREATE TABLE participants (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space_id        bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  code            text NOT NULL,
  icpc_id         text NOT NULL DEFAULT '',
  label           text NOT NULL DEFAULT '',
  name            text NOT NULL,
  display_name    text NOT NULL DEFAULT '',
  organization_id bigint REFERENCES organizations (id),
  room            text NOT NULL DEFAULT '',
  ranked          boolean NOT NULL DEFAULT true,
  hidden          boolean NOT NULL DEFAULT false,
  status          text NOT NULL DEFAULT 'active' CONSTRAINT participants_status CHECK (status IN ('active', 'withdrawn', 'banned', 'disqualified')),
  reason          text NOT NULL DEFAULT '',
  submits         bigint NOT NULL DEFAULT 0,               -- that counted; it only grows, so that submits at once see each other
  UNIQUE (space_id, code)
);
CREATE INDEX participants_organization ON participants (organization_id) WHERE organization_id IS NOT NULL;

-- Nobody is in two teams of a space as a contestant.
CREATE TABLE participant_members (
  participant_id bigint NOT NULL REFERENCES participants (id) ON DELETE CASCADE,
  space_id       bigint NOT NULL,
  user_name      text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  role           text NOT NULL CONSTRAINT participant_members_role CHECK (role IN ('contestant', 'coach')),
  PRIMARY KEY (participant_id, user_name)
);
CREATE UNIQUE INDEX participant_members_one ON participant_members (space_id, user_name) WHERE role = 'contestant';
CREATE INDEX participant_members_user ON participant_members (user_name);

CREATE TABLE participant_groups (
  participant_id bigint NOT NULL REFERENCES participants (id) ON DELETE CASCADE,
  group_id       bigint NOT NULL REFERENCES team_groups (id),
  PRIMARY KEY (participant_id, group_id)
);
CREATE INDEX participant_groups_group ON participant_groups (group_id);

CREATE TABLE round_entries (
  round_id       bigint NOT NULL REFERENCES rounds (id) ON DELETE CASCADE,
  participant_id bigint NOT NULL REFERENCES participants (id) ON DELETE CASCADE,
  registered_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (round_id, participant_id)
);
CREATE INDEX round_entries_participant ON round_entries (participant_id);

-- What changed in the rounds of a space, written in the transaction that changed it.
CREATE TABLE round_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space_id bigint NOT NULL,
  round_id bigint,                                         -- NULL = all of the space
  kind     text NOT NULL,
  object   text NOT NULL,                                  -- its code
  at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX round_changes_space ON round_changes (space_id, id);
