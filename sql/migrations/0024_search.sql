-- min_binary: 17
-- Problems are found by what their statements say, and editing in the browser has
-- an allowance of its own.

-- A text in small letters, whatever the database's locale: that of Deep-OJ's own
-- database knows ASCII alone. What is looked for is made small by the program.
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length($1) = length($1) THEN lower($1) ELSE translate(lower($1),
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ',
    'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżžάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюяҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ') END
$$;

-- What a page is searched for. It is made once, when the page is.
ALTER TABLE problem_pages ADD COLUMN said text NOT NULL GENERATED ALWAYS AS (folded(title || ' ' || body)) STORED;

-- What counts of a problem: submissions outside of spaces, and official ones of
-- spaces that are closed. Only live results are looked at, so nothing of a rejudge
-- set is in it before that is applied; what setters hand in to drafts is no
-- submission. This is the one place that says so.
CREATE VIEW counted_submissions AS
SELECT s.job_id, s.problem::text AS problem, s.author, s.code_bytes, j.verdict::text AS verdict, j.language, j.live_generation
FROM job_payloads s JOIN jobs j ON j.job_id = s.job_id
WHERE s.problem IS NOT NULL AND j.kind = 'submission' AND j.verdict IS NOT NULL AND j.verdict NOT IN ('JE', 'SE') AND NOT s.unofficial
  AND (s.space_id IS NULL OR EXISTS (SELECT 1 FROM spaces c WHERE c.id = s.space_id AND c.closes_at <= now()));

-- Saves in the browser that follow another by the same setter soon: they do not
-- count as versions of the day.
ALTER TABLE setter_days ADD COLUMN saves integer NOT NULL DEFAULT 0;
