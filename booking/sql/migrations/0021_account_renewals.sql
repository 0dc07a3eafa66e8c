-- How a browser keeps a fan's account beyond its access token: with a secret of its own, used once. Whoever uses it names the
-- next one, so that a repeated request is the same one, and a second use with another successor tells of two hands.
-- Secrets are never stored in the clear: SHA-256 digests of random ones.
CREATE TABLE account_renewals (
    renewal_id    uuid NOT NULL,
    account_id    uuid NOT NULL,
    secret_digest bytea NOT NULL,
    former_digest bytea,
    is_spare      boolean NOT NULL DEFAULT false,
    opened_at     timestamptz NOT NULL,
    renewed_at    timestamptz,
    expires_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    ended_reason  text,
    CONSTRAINT account_renewals_pk PRIMARY KEY (renewal_id),
    CONSTRAINT renewal_of_account FOREIGN KEY (account_id) REFERENCES accounts,
    CONSTRAINT renewal_secret_unique UNIQUE (secret_digest),
    CONSTRAINT renewal_former_unique UNIQUE (former_digest),
    CONSTRAINT renewal_digests_are_sha256 CHECK (octet_length(secret_digest) = 32 AND octet_length(former_digest) = 32),
    CONSTRAINT renewal_is_new CHECK (former_digest <> secret_digest),
    CONSTRAINT renewal_renewed_with_former CHECK ((renewed_at IS NULL) = (former_digest IS NULL)),
    CONSTRAINT renewal_ended_with_reason CHECK ((ended_at IS NULL) = (ended_reason IS NULL)),
    CONSTRAINT renewal_ends_after_its_begin CHECK (expires_at > opened_at)
);
CREATE INDEX account_renewals_of_account ON account_renewals (account_id);
