-- No index over all events any more: it cost each request a page. An event names the event before it
-- of its table, a table its newest, and a commitment the event that has published it, which for every
-- hand but the first is the opening of the hand before. From there everything is found.

CREATE TABLE linked_events (
  idx      INTEGER PRIMARY KEY,
  table_id TEXT    NOT NULL,             -- '' for an entry of the log itself
  seq      INTEGER NOT NULL,
  hand     INTEGER NOT NULL,
  before   INTEGER CHECK (before < idx), -- the table's event before; NULL for its first, and for the log's own
  body     BLOB    NOT NULL,
  leaf     BLOB    NOT NULL CHECK (length(leaf) = 32)
) STRICT;
INSERT INTO linked_events
  SELECT e.idx, e.table_id, e.seq, e.hand,
    CASE e.table_id WHEN '' THEN NULL ELSE
      (SELECT b.idx FROM events b WHERE b.table_id = e.table_id AND b.seq = e.seq - 1) END,
    e.body, e.leaf
  FROM events e ORDER BY e.idx;

-- What is the first of its hand, and what is of a hand before the newest.
CREATE TEMP TABLE turns (
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  idx      INTEGER NOT NULL,
  late     INTEGER NOT NULL,
  PRIMARY KEY (table_id, hand, late)
) STRICT, WITHOUT ROWID;
INSERT INTO turns
  SELECT table_id, hand, idx, hand < newest FROM (
    SELECT table_id, hand, idx, coalesce(max(hand) OVER (
      PARTITION BY table_id ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), -1) AS newest
    FROM events WHERE table_id <> '')
  WHERE hand > newest OR (hand > 0 AND hand < newest);

-- Every commitment ever made, with its sealed server seed.
CREATE TABLE linked_commitments (
  value    BLOB    NOT NULL CHECK (length(value) = 32),
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  fixed    INTEGER NOT NULL,             -- 1 if it came from a test seed, which may come again
  sealed   BLOB    NOT NULL,
  idx      INTEGER NOT NULL,             -- of the event that published it
  PRIMARY KEY (table_id, hand)
) STRICT, WITHOUT ROWID;
INSERT INTO linked_commitments
  SELECT c.value, c.table_id, c.hand, c.fixed, c.sealed, t.idx
  FROM commitments c LEFT JOIN turns t ON t.table_id = c.table_id AND t.hand = c.hand - 1 AND t.late = 0;

-- Where hands were disclosed that were not their table's newest any more.
CREATE TABLE late_disclosures (
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  idx      INTEGER NOT NULL,
  PRIMARY KEY (table_id, hand)
) STRICT, WITHOUT ROWID;
INSERT INTO late_disclosures SELECT table_id, hand, idx FROM turns WHERE late = 1;

CREATE TABLE linked_tables (
  id        TEXT    PRIMARY KEY,
  operator  TEXT    NOT NULL,
  game      TEXT    NOT NULL,
  test_seed BLOB,                        -- sealed; test mode only
  seq       INTEGER NOT NULL,
  hand      INTEGER NOT NULL,
  state     TEXT    NOT NULL CHECK (state IN ('idle', 'hand_open', 'closed')),
  patience  INTEGER NOT NULL,            -- seconds that the present state may last
  due       INTEGER NOT NULL,            -- ms since 1970, when that time is over
  newest    INTEGER NOT NULL             -- idx of its newest event
) STRICT, WITHOUT ROWID;
INSERT INTO linked_tables
  SELECT t.id, t.operator, t.game, t.test_seed, t.seq, t.hand, t.state, t.patience, t.due,
    (SELECT e.idx FROM events e WHERE e.table_id = t.id AND e.seq = t.seq)
  FROM tables t;

DROP TABLE turns;
DROP TABLE events;
DROP TABLE commitments;
DROP TABLE tables;
ALTER TABLE linked_events RENAME TO events;
ALTER TABLE linked_commitments RENAME TO commitments;
ALTER TABLE linked_tables RENAME TO tables;

CREATE UNIQUE INDEX events_own ON events (seq) WHERE table_id = '';
CREATE UNIQUE INDEX commitments_are_fresh ON commitments (value) WHERE fixed = 0;
CREATE INDEX tables_by_operator ON tables (operator, id);
CREATE INDEX tables_idle ON tables (due) WHERE state = 'idle';

CREATE TRIGGER events_stay        BEFORE UPDATE ON events      BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_remain      BEFORE DELETE ON events      BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER commitments_stay   BEFORE UPDATE OF value, table_id, hand, fixed, idx ON commitments BEGIN SELECT RAISE(ABORT, 'commitments are never changed'); END;
CREATE TRIGGER commitments_remain BEFORE DELETE ON commitments BEGIN SELECT RAISE(ABORT, 'commitments are never deleted'); END;
