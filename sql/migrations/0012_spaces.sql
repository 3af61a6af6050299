-- min_binary: 10
-- Courses and contests: who takes part, in which problems, when and within which
-- limits; and problems that are not for everybody.

CREATE TABLE spaces (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never used again, so no space inherits submissions
  slug           text NOT NULL UNIQUE,
  title          text NOT NULL,
  description    text NOT NULL DEFAULT '',
  opens_at       timestamptz,                             -- NULL = always was open
  closes_at      timestamptz,                             -- NULL = never closes
  languages      text[] NOT NULL DEFAULT '{}',            -- empty = all that a problem takes
  max_source_kib integer NOT NULL DEFAULT 0,              -- of a program; 0 = as the problem says
  max_waiting    integer NOT NULL DEFAULT 0,              -- unfinished submissions of a member; 0 = any number
  per_minute     integer NOT NULL DEFAULT 0,              -- submissions of a member; 0 = any number
  listed         boolean NOT NULL DEFAULT false,          -- everybody sees that it exists
  created_by     text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT spaces_times CHECK (opens_at < closes_at),
  CONSTRAINT spaces_limits CHECK (max_source_kib >= 0 AND max_waiting BETWEEN 0 AND 100 AND per_minute BETWEEN 0 AND 100)
);

CREATE TABLE space_members (
  space_id  bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  user_name text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  role      text NOT NULL CONSTRAINT space_members_role CHECK (role IN ('contestant', 'setter', 'staff')),
  submits   bigint NOT NULL DEFAULT 0,                    -- that counted; it only grows, so that submits at once see each other
  added_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (space_id, user_name)
);
CREATE INDEX space_members_user ON space_members (user_name);

CREATE TABLE space_problems (
  space_id bigint NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
  problem  text NOT NULL REFERENCES problems (slug),
  place    integer NOT NULL,                              -- from 1 on, which is A
  points   double precision,                              -- of a full solution; NULL = 1, or the problem's own
  PRIMARY KEY (space_id, problem),
  CONSTRAINT space_problems_points CHECK (points >= 0)
);
CREATE INDEX space_problems_problem ON space_problems (problem);

-- Problems that only setters see, and members of a space while it is open. A row
-- may be here before the problem is live.
CREATE TABLE hidden_problems (
  slug text PRIMARY KEY,
  by   text NOT NULL,
  at   timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE submissions
  ADD COLUMN space_id   bigint,                           -- NULL = in none
  ADD COLUMN unofficial boolean NOT NULL DEFAULT false;   -- of somebody who prepares the space: bound by no limit, in no score
CREATE INDEX submissions_space ON submissions (space_id, job_id) WHERE space_id IS NOT NULL;
CREATE INDEX submissions_member ON submissions (space_id, author, job_id) WHERE space_id IS NOT NULL;
