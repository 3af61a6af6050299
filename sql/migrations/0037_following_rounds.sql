-- min_binary: 17
-- Each space that there is gets a round that follows it: its times, problems and members are those of the space, and what is
-- handed in to the space counts in it. Triggers keep it so, whoever changes the space.

ALTER TABLE participants ADD COLUMN follows text;          -- the contestant of the space whom it stands for in the round that follows; NULL = it is a team, or stands for itself
CREATE UNIQUE INDEX participants_follows ON participants (space_id, follows) WHERE follows IS NOT NULL;
CREATE INDEX participants_named ON participants (follows) WHERE follows IS NOT NULL;
CREATE UNIQUE INDEX rounds_following ON rounds (space_id) WHERE follows;

-- What participants handed in to rounds.
CREATE VIEW round_submissions AS
SELECT p.job_id, p.problem, p.round_id, p.participant_id, false AS follows FROM job_payloads p
WHERE p.round_id IS NOT NULL AND p.participant_id IS NOT NULL AND NOT p.unofficial
UNION ALL
SELECT p.job_id, p.problem, r.id, t.id, true FROM rounds r
JOIN job_payloads p ON p.space_id = r.space_id
JOIN round_problems a ON a.round_id = r.id AND a.problem = p.problem
JOIN participants t ON t.space_id = r.space_id AND t.follows = p.author
WHERE r.follows AND p.round_id IS NULL AND NOT p.unofficial;

-- The letter of a place, from 1 on: A to Z, then AA.
CREATE FUNCTION place_label(place integer) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE label text := '';
BEGIN
  WHILE place > 0 LOOP
    label := chr(65 + (place - 1) % 26) || label;
    place := (place - 1) / 26;
  END LOOP;
  RETURN label;
END $$;

-- The round that follows a space; its result does not stand.
CREATE FUNCTION following_round(space bigint) RETURNS bigint LANGUAGE sql STABLE AS
$$ SELECT id FROM rounds WHERE space_id = space AND follows AND finalized_at IS NULL $$;

CREATE FUNCTION following_changed(space bigint, round bigint, what text) RETURNS void LANGUAGE sql AS
$$ INSERT INTO round_changes (space_id, round_id, kind, object) SELECT space, r.id, what, r.code FROM rounds r WHERE r.id = round $$;

-- All that was handed in is in the time of the round, also where the space opens later now, or closes earlier.
CREATE FUNCTION follow_times(space bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE round bigint := following_round(space);
BEGIN
  IF round IS NULL THEN RETURN; END IF;
  UPDATE rounds r SET starts_at = t.start, duration_ms = CASE WHEN s.closes_at IS NULL THEN NULL
    ELSE greatest(1, floor(extract(epoch FROM greatest(s.closes_at, h.last + interval '1 ms') - t.start) * 1000)) END
  FROM spaces s,
    LATERAL (SELECT min(j.created_at) AS first, max(j.created_at) AS last FROM job_payloads p JOIN jobs j ON j.job_id = p.job_id
      WHERE p.space_id = s.id AND p.round_id IS NULL AND NOT p.unofficial) h,
    LATERAL (SELECT date_trunc('milliseconds', least(coalesce(s.opens_at, least(s.created_at, s.closes_at - interval '1 day')), h.first)) AS start) t
  WHERE s.id = space AND r.id = round;
  PERFORM following_changed(space, round, 'round');
END $$;

CREATE FUNCTION follow_problem(space bigint, slug text, nth integer, worth double precision) RETURNS void LANGUAGE plpgsql AS $$
DECLARE round bigint := following_round(space);
BEGIN
  IF round IS NULL THEN RETURN; END IF;
  IF nth IS NULL THEN
    DELETE FROM round_problems p WHERE p.round_id = round AND p.problem = slug;
  ELSE
    INSERT INTO round_problems (round_id, problem, place, label, points) VALUES (round, slug, nth, place_label(nth), worth)
    ON CONFLICT (round_id, problem) DO UPDATE SET place = excluded.place, label = excluded.label, points = excluded.points;
  END IF;
  PERFORM following_changed(space, round, 'problems');
END $$;

-- Who is no contestant any more is hidden: what they handed in stays.
CREATE FUNCTION follow_member(space bigint, who text, contestant boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE round bigint := following_round(space); known bigint; base text; short text; n integer := 1;
BEGIN
  IF round IS NULL THEN RETURN; END IF;
  PERFORM FROM rounds r WHERE r.id = round FOR UPDATE; -- one at a time, for the short names
  SELECT p.id INTO known FROM participants p WHERE p.space_id = space AND p.follows = who;
  IF known IS NULL AND NOT contestant THEN RETURN; END IF;
  IF known IS NULL THEN
    base := regexp_replace(left(who, 28), '[^A-Za-z0-9_.-]', '_', 'g');
    short := base;
    WHILE EXISTS (SELECT 1 FROM participants p WHERE p.space_id = space AND p.code = short) LOOP
      n := n + 1;
      short := base || '-' || n;
    END LOOP;
    INSERT INTO participants (space_id, code, name, follows)
    SELECT space, short, coalesce(nullif(u.display_name, ''), u.name), u.name FROM users u WHERE u.name = who
    RETURNING id INTO known;
    INSERT INTO round_entries (round_id, participant_id) VALUES (round, known);
  ELSE
    UPDATE participants p SET hidden = NOT contestant, status = CASE WHEN contestant THEN 'active' ELSE 'withdrawn' END WHERE p.id = known;
  END IF;
  PERFORM following_changed(space, round, 'entries');
END $$;

CREATE FUNCTION spaces_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE rounds r SET title = NEW.title WHERE r.space_id = NEW.id AND r.follows AND r.title = OLD.title AND r.finalized_at IS NULL;
  PERFORM follow_times(NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER spaces_followed AFTER UPDATE OF title, opens_at, closes_at ON spaces FOR EACH ROW
WHEN ((OLD.title, OLD.opens_at, OLD.closes_at) IS DISTINCT FROM (NEW.title, NEW.opens_at, NEW.closes_at)) EXECUTE FUNCTION spaces_followed();

CREATE FUNCTION space_problems_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM follow_problem(OLD.space_id, OLD.problem, NULL, NULL);
  ELSE PERFORM follow_problem(NEW.space_id, NEW.problem, NEW.place, NEW.points); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER space_problems_followed AFTER INSERT OR UPDATE OR DELETE ON space_problems FOR EACH ROW EXECUTE FUNCTION space_problems_followed();

CREATE FUNCTION space_members_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN PERFORM follow_member(OLD.space_id, OLD.user_name, false);
  ELSE PERFORM follow_member(NEW.space_id, NEW.user_name, NEW.role = 'contestant'); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER space_members_followed AFTER INSERT OR UPDATE OF role OR DELETE ON space_members FOR EACH ROW EXECUTE FUNCTION space_members_followed();

-- What people call themselves, and what a problem is that is not pinned.
CREATE FUNCTION users_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE participants p SET name = coalesce(nullif(NEW.display_name, ''), NEW.name) WHERE p.follows = NEW.name;
  PERFORM following_changed(p.space_id, following_round(p.space_id), 'participants') FROM participants p WHERE p.follows = NEW.name;
  RETURN NULL;
END $$;
CREATE TRIGGER users_followed AFTER UPDATE OF display_name ON users FOR EACH ROW
WHEN (OLD.display_name IS DISTINCT FROM NEW.display_name) EXECUTE FUNCTION users_followed();

CREATE FUNCTION problems_followed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM following_changed(r.space_id, r.id, 'problems') FROM round_problems p JOIN rounds r ON r.id = p.round_id
  WHERE p.problem = NEW.slug AND p.version = '' AND r.follows AND r.finalized_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER problems_followed AFTER UPDATE OF version ON problems FOR EACH ROW
WHEN (OLD.version IS DISTINCT FROM NEW.version) EXECUTE FUNCTION problems_followed();

-- Spaces that have rounds of their own stay as they are.
INSERT INTO rounds (space_id, code, title, kind, format, settings, public_runs, follows, created_by)
SELECT s.id, CASE
    WHEN s.slug ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,34}[A-Za-z0-9_-]$' AND NOT EXISTS (SELECT 1 FROM rounds r WHERE r.code = s.slug) THEN s.slug
    WHEN left(s.slug, 28) ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]*$' THEN left(s.slug, 28) || '-' || s.id
    ELSE 'space-' || s.id END,
  s.title, 'contest', 'ioi', '{"mode": "max", "tie": "solved", "precision": 4}', false, true, 'system'
FROM spaces s WHERE NOT EXISTS (SELECT 1 FROM rounds r WHERE r.space_id = s.id) ORDER BY s.id;

SELECT follow_times(s.id) FROM spaces s ORDER BY s.id;
SELECT follow_problem(p.space_id, p.problem, row_number() OVER (PARTITION BY p.space_id ORDER BY p.place, p.problem)::integer, p.points) FROM space_problems p;
SELECT follow_member(m.space_id, m.user_name, true) FROM space_members m WHERE m.role = 'contestant' ORDER BY m.space_id, m.user_name;
