-- min_binary: 17
-- Logos of organizations, as the Contest API and boards show them. They are small, and come and go with the organization.
CREATE TABLE organization_logos (
  organization_id bigint NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name   text NOT NULL,                                    -- of the file
  media  text NOT NULL CONSTRAINT organization_logos_media CHECK (media IN ('image/png', 'image/jpeg', 'image/svg+xml')),
  width  integer NOT NULL,
  height integer NOT NULL,
  hash   text NOT NULL,                                    -- MD5 in hexadecimal, as the Contest API has it
  data   bytea NOT NULL CONSTRAINT organization_logos_data CHECK (octet_length(data) BETWEEN 1 AND 1048576),
  PRIMARY KEY (organization_id, name)
);
