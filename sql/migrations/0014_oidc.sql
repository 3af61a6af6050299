-- min_binary: 10
-- People who prove who they are at a provider of OpenID Connect.

CREATE TABLE identities (
  issuer     text NOT NULL,
  subject    text NOT NULL,                               -- which the issuer gives to nobody else, unlike names and addresses
  user_name  text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_user ON identities (user_name);

-- Logins that were begun and are answered once.
CREATE TABLE oidc_logins (
  state_hash   text PRIMARY KEY,
  browser_hash text NOT NULL,                             -- of what only the browser has that began it
  nonce        text NOT NULL,
  verifier     text NOT NULL,                             -- of PKCE
  next         text NOT NULL,                             -- where to go on
  expires_at   timestamptz NOT NULL
);
CREATE INDEX oidc_logins_expired ON oidc_logins (expires_at);
