-- An answer to a request of a hand is kept under the last event of the request: no index over random
-- keys, which cost each request a page. Its table knows in memory under which keys it keeps answers.

CREATE INDEX answers_by_event ON answers (table_id, etag);
CREATE TEMP TABLE places (
  answer    INTEGER PRIMARY KEY,
  idx       INTEGER NOT NULL,
  disclosed INTEGER NOT NULL
) STRICT;
INSERT INTO places
  SELECT a.rowid, e.idx, instr(e.body, CAST('"type":"hand.disclosed"' AS BLOB)) > 0
  FROM events e CROSS JOIN answers a ON a.table_id = e.table_id AND a.etag = e.seq WHERE a.events > 0;

CREATE TABLE kept_answers (
  idx      INTEGER PRIMARY KEY,          -- of the request's last event
  scope    BLOB    NOT NULL,             -- SHA-256 of credential, method, path and key
  request  BLOB    NOT NULL,             -- SHA-256 of the body
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL CHECK (hand > 0),
  status   INTEGER NOT NULL,
  etag     INTEGER NOT NULL,
  events   INTEGER NOT NULL CHECK (events > 0), -- how many end the chain at `etag`; they and their receipt are not in it
  at       INTEGER NOT NULL,
  sealed   BLOB    NOT NULL
) STRICT;

-- What comes once a table or less often: its opening and its end, seats, and the disclosure of a hand
-- that has ended. These are looked for by their keys. In order of time: the old ones stand at the front.
CREATE TABLE answers_apart (
  idx      INTEGER,                      -- of the request's last event, if it is not in the answer
  scope    BLOB    NOT NULL UNIQUE,
  request  BLOB    NOT NULL,
  table_id TEXT    NOT NULL,
  hand     INTEGER NOT NULL,
  status   INTEGER NOT NULL,
  etag     INTEGER NOT NULL,
  events   INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  sealed   BLOB    NOT NULL,
  CHECK ((idx IS NULL) = (events = 0))
) STRICT;

INSERT INTO kept_answers
  SELECT p.idx, a.scope, a.request, a.table_id, a.hand, a.status, a.etag, a.events, a.at, a.sealed
  FROM places p CROSS JOIN answers a ON a.rowid = p.answer
  WHERE a.hand > 0 AND NOT (a.events = 1 AND p.disclosed) ORDER BY p.idx;
INSERT INTO answers_apart
  SELECT p.idx, a.scope, a.request, a.table_id, a.hand, a.status, a.etag, a.events, a.at, a.sealed
  FROM answers a LEFT JOIN places p ON p.answer = a.rowid
  WHERE p.idx IS NULL OR p.idx NOT IN (SELECT idx FROM kept_answers) ORDER BY a.rowid;

DROP TABLE places;
DROP TABLE answers;
ALTER TABLE kept_answers RENAME TO answers;
