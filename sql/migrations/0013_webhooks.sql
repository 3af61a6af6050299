-- min_binary: 10
-- Addresses that are told what happens to submissions, and what each was told.

CREATE TABLE webhooks (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner         text NOT NULL REFERENCES users (name) ON DELETE CASCADE,
  everyone      boolean NOT NULL,                         -- of everybody's submissions, as long as the owner is staff; else of the owner's
  problem       text NOT NULL,                            -- of this problem only; '' = of all
  url           text NOT NULL,
  kinds         text[] NOT NULL CONSTRAINT webhooks_kinds CHECK (cardinality(kinds) > 0),
  secret        bytea NOT NULL,                           -- it signs, so it is kept as it is: nothing reads it but the sender
  created_at    timestamptz NOT NULL DEFAULT now(),
  disabled_at   timestamptz,                              -- NULL = it is told
  failing_since timestamptz                               -- the first failure after the last success; NULL = none
);
CREATE INDEX webhooks_owner ON webhooks (owner, id);

CREATE TABLE webhook_deliveries (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  webhook_id   bigint NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  event_id     bigint,                                    -- NULL = somebody tries the address out
  job_id       bigint,                                    -- likewise
  message      uuid NOT NULL DEFAULT gen_random_uuid(),   -- by which a receiver knows it again
  kind         text NOT NULL,
  body         text NOT NULL,                             -- the same in every try
  created_at   timestamptz NOT NULL DEFAULT now(),
  tries        integer NOT NULL DEFAULT 0,
  tries_before integer NOT NULL DEFAULT 0,                -- of them, before somebody had it sent again
  next_at      timestamptz NOT NULL DEFAULT now(),        -- when it is due; the end of the lease while it is leased
  leased_until timestamptz,                               -- somebody tries it until then
  tried_at     timestamptz,                               -- the end of the last try
  status       integer,                                   -- that the last try was answered with; NULL = none
  error        text,                                      -- why there was no answer
  done_at      timestamptz,
  taken        boolean,                                   -- it was answered with success
  CONSTRAINT webhook_deliveries_once UNIQUE (webhook_id, event_id),
  CONSTRAINT webhook_deliveries_done CHECK ((done_at IS NULL) = (taken IS NULL) AND (done_at IS NULL OR leased_until IS NULL))
);
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, next_at) WHERE done_at IS NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (webhook_id, leased_until) WHERE leased_until IS NOT NULL;
