-- name: PagesSave :execrows
-- Puts what people see of a version in the place of what was there, unless a newer job
-- has. Job 0 is none, and goes before all.
WITH kept AS (
  INSERT INTO problem_renderings (slug, version, renderer, job_id, warnings)
  VALUES (@slug, @version, @renderer, nullif(@job_id::bigint, 0), @warnings)
  ON CONFLICT (slug, version) DO UPDATE SET renderer = excluded.renderer, job_id = coalesce(excluded.job_id, problem_renderings.job_id),
    warnings = excluded.warnings, at = now()
  WHERE coalesce(problem_renderings.job_id, 0) <= @job_id::bigint OR @job_id::bigint = 0
  RETURNING slug, version),
pages AS (
  INSERT INTO problem_pages (slug, version, language, title, html, body, document)
  SELECT k.slug, k.version, p.language, p.title, p.html, p.body, p.document
  FROM kept k, (SELECT unnest(@languages::text[]) AS language, unnest(@titles::text[]) AS title, unnest(@htmls::text[]) AS html,
    unnest(@bodies::text[]) AS body, unnest(@documents::text[]) AS document) p
  ON CONFLICT (slug, version, language) DO UPDATE SET title = excluded.title, html = excluded.html, body = excluded.body, document = excluded.document),
pictures AS (
  INSERT INTO problem_page_files (slug, version, name, type, digest, bytes)
  SELECT k.slug, k.version, p.name, p.type, p.digest, p.bytes
  FROM kept k, (SELECT unnest(@names::text[]) AS name, unnest(@types::text[]) AS type, unnest(@digests::bytea[]) AS digest, unnest(@sizes::bigint[]) AS bytes) p
  ON CONFLICT (slug, version, name) DO UPDATE SET type = excluded.type, digest = excluded.digest, bytes = excluded.bytes),
gone AS (
  DELETE FROM problem_pages g USING kept k WHERE g.slug = k.slug AND g.version = k.version AND g.language <> ALL (@languages::text[])),
away AS (
  DELETE FROM problem_page_files g USING kept k WHERE g.slug = k.slug AND g.version = k.version AND g.name <> ALL (@names::text[]))
SELECT 1 FROM kept;

-- name: PagesOf :many
-- The languages of a version's statement, by their tags, without what they say.
SELECT language, title, document FROM problem_pages WHERE slug = @slug AND version = @version ORDER BY language;

-- name: PageGet :one
SELECT language, title, html, body, document FROM problem_pages WHERE slug = @slug AND version = @version AND language = @language;

-- name: PageFileGet :one
SELECT name, type, digest, bytes FROM problem_page_files WHERE slug = @slug AND version = @version AND name = @name;

-- name: RenderingGet :one
SELECT renderer, coalesce(job_id, 0)::bigint AS job_id, warnings, at FROM problem_renderings WHERE slug = @slug AND version = @version;

-- name: RenderingList :many
-- Every version of some problems, or of all if none is named: the live ones first.
SELECT v.slug, v.version, coalesce(r.renderer, 0)::integer AS renderer, coalesce(r.job_id, 0)::bigint AS job_id
FROM problem_versions v
LEFT JOIN problem_renderings r ON r.slug = v.slug AND r.version = v.version
LEFT JOIN problems p ON p.slug = v.slug AND p.version = v.version
WHERE cardinality(@slugs::text[]) = 0 OR v.slug = ANY (@slugs::text[])
ORDER BY (p.version IS NULL), v.slug, v.created_at DESC, v.version;

-- name: RenderingDue :one
-- Whether a version was rendered by none or an older renderer.
SELECT EXISTS (
  SELECT 1 FROM problem_versions v LEFT JOIN problem_renderings r ON r.slug = v.slug AND r.version = v.version
  WHERE coalesce(r.renderer, 0) < @renderer::integer)::boolean AS due;

-- name: PagesCopy :exec
-- Gives a version the pages of another that shows the same.
WITH kept AS (
  INSERT INTO problem_renderings (slug, version, renderer, warnings)
  SELECT r.slug, @version::text, r.renderer, r.warnings FROM problem_renderings r WHERE r.slug = @slug AND r.version = @source
  ON CONFLICT DO NOTHING RETURNING slug, version),
files AS (
  INSERT INTO problem_page_files (slug, version, name, type, digest, bytes)
  SELECT k.slug, k.version, f.name, f.type, f.digest, f.bytes FROM kept k JOIN problem_page_files f ON f.slug = k.slug AND f.version = @source)
INSERT INTO problem_pages (slug, version, language, title, html, body, document)
SELECT k.slug, k.version, p.language, p.title, p.html, p.body, p.document FROM kept k JOIN problem_pages p ON p.slug = k.slug AND p.version = @source;
