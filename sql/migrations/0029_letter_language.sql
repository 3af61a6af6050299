-- min_binary: 17
-- In what language a letter is written where the account that it goes to says none: that of the page where it was asked
-- for. '' is English.
ALTER TABLE letters
  ADD COLUMN language text NOT NULL DEFAULT '' CHECK (octet_length(language) <= 40);
