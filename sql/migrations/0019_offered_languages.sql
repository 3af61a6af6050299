-- min_binary: 17
-- The languages that programs may be handed in in, whether or not a worker that
-- serves them runs now. Workers add what they can judge; staff take off.

CREATE TABLE languages (
  id         text PRIMARY KEY,                    -- such as "cpp"
  info       jsonb NOT NULL,                      -- as a worker last described it
  withdrawn  boolean NOT NULL DEFAULT false,      -- nothing may be handed in in it
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at    timestamptz NOT NULL DEFAULT now()   -- when a worker could judge it, to the hour
);

-- What workers of before could judge.
INSERT INTO languages (id, info, seen_at)
SELECT DISTINCT ON (l.info ->> 'id') l.info ->> 'id', l.info, w.seen_at
FROM workers w CROSS JOIN LATERAL jsonb_array_elements(
  CASE jsonb_typeof(w.info -> 'languages') WHEN 'array' THEN w.info -> 'languages' ELSE '[]' END) AS l(info)
WHERE (l.info ->> 'available')::boolean AND l.info ->> 'id' <> ''
ORDER BY l.info ->> 'id', w.seen_at DESC;
