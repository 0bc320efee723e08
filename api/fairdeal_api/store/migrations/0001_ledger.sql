-- The ledger: events, the log over them, and what the service must remember to go on with a hand.
-- Nothing secret is here in clear: blobs named `sealed` are AES-256-GCM, credentials are SHA-256.

CREATE TABLE service (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  origin     TEXT    NOT NULL,
  log_key    TEXT    NOT NULL,
  sealing_id TEXT    NOT NULL
) STRICT;

-- The head of the log. One row, moved by compare-and-set only.
CREATE TABLE head (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  size  INTEGER NOT NULL,
  root  BLOB    NOT NULL CHECK (length(root) = 32),
  epoch INTEGER NOT NULL,
  at    INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
  idx      INTEGER PRIMARY KEY,
  table_id TEXT    NOT NULL,
  seq      INTEGER NOT NULL,
  hand     INTEGER NOT NULL,
  body     BLOB    NOT NULL,
  leaf     BLOB    NOT NULL CHECK (length(leaf) = 32),
  UNIQUE (table_id, seq)
) STRICT;

CREATE TABLE checkpoints (
  size INTEGER PRIMARY KEY,
  note TEXT    NOT NULL
) STRICT;

-- Every commitment ever made, with its sealed server seed.
CREATE TABLE commitments (
  value    BLOB    NOT NULL CHECK (length(value) = 32),
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  fixed    INTEGER NOT NULL,             -- 1 if it came from a test seed, which may come again
  sealed   BLOB    NOT NULL,
  PRIMARY KEY (table_id, hand)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX commitments_are_fresh ON commitments (value) WHERE fixed = 0;

CREATE TABLE tables (
  id        TEXT    PRIMARY KEY,
  operator  TEXT    NOT NULL,
  game      TEXT    NOT NULL,
  test_seed BLOB,                        -- sealed; test mode only
  seq       INTEGER NOT NULL,
  hand      INTEGER NOT NULL,
  state     TEXT    NOT NULL CHECK (state IN ('idle', 'hand_open', 'closed')),
  patience  INTEGER NOT NULL,            -- seconds that the present state may last
  due       INTEGER NOT NULL             -- ms since 1970, when that time is over
) STRICT, WITHOUT ROWID;
CREATE INDEX tables_by_operator ON tables (operator, id);
CREATE INDEX tables_idle ON tables (due) WHERE state = 'idle';

CREATE TABLE seats (
  table_id TEXT    NOT NULL,
  seat     INTEGER NOT NULL,
  claim    BLOB    NOT NULL UNIQUE,      -- SHA-256 of the claim code
  token    BLOB    UNIQUE,               -- SHA-256 of the seat token, once claimed
  PRIMARY KEY (table_id, seat)
) STRICT, WITHOUT ROWID;

-- Which cards were discarded face down, until the hand is disclosed.
CREATE TABLE discards (
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  seq      INTEGER NOT NULL,
  sealed   BLOB    NOT NULL,
  PRIMARY KEY (table_id, hand, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE finished (
  idx      INTEGER PRIMARY KEY,          -- of the event that ended the hand
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  game     TEXT    NOT NULL,
  state    TEXT    NOT NULL CHECK (state IN ('closed', 'aborted')),
  at       INTEGER NOT NULL,
  UNIQUE (table_id, hand)
) STRICT;

-- Answers to requests with an Idempotency-Key, to be given again byte for byte. In order of time:
-- the old ones stand at the front, where they are looked for when it is time to forget them.
CREATE TABLE answers (
  scope    BLOB    NOT NULL UNIQUE,      -- SHA-256 of credential, method, path and key
  request  BLOB    NOT NULL,             -- SHA-256 of the body
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  status   INTEGER NOT NULL,
  etag     INTEGER NOT NULL,
  events   INTEGER NOT NULL,             -- how many end the chain at `etag`; they and their receipt are not in it
  at       INTEGER NOT NULL,
  sealed   BLOB    NOT NULL
) STRICT;

CREATE TRIGGER events_stay       BEFORE UPDATE ON events      BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain     BEFORE DELETE ON events      BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER commitments_stay   BEFORE UPDATE ON commitments BEGIN SELECT RAISE(ABORT, 'commitments are never changed'); END;
CREATE TRIGGER commitments_remain BEFORE DELETE ON commitments BEGIN SELECT RAISE(ABORT, 'commitments are never deleted'); END;
