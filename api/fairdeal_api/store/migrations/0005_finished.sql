-- The end of a hand is among its events: no index by table and hand, which cost each end a page.

CREATE TABLE ended (
  idx      INTEGER PRIMARY KEY,          -- of the event that ended the hand
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  game     TEXT    NOT NULL,
  state    TEXT    NOT NULL CHECK (state IN ('closed', 'aborted')),
  at       INTEGER NOT NULL
) STRICT;
INSERT INTO ended SELECT idx, table_id, hand, game, state, at FROM finished ORDER BY idx;
DROP TABLE finished;
ALTER TABLE ended RENAME TO finished;
