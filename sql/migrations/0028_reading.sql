-- min_binary: 17
-- How somebody reads pages: their language and their clock. '' is what the browser says.
ALTER TABLE users
  ADD COLUMN language text NOT NULL DEFAULT '' CHECK (octet_length(language) <= 40),
  ADD COLUMN zone     text NOT NULL DEFAULT '' CHECK (octet_length(zone) <= 64);
