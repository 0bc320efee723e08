-- The sealing key can change. Each sealed value names its key by four bytes in front of it, those of
-- service.sealing_id; what is there already was all sealed under that one.

ALTER TABLE service ADD COLUMN old_sealing_id TEXT;  -- of the key before, which a rotation may have left behind

DROP TRIGGER commitments_stay;
UPDATE commitments SET sealed    = CAST((SELECT unhex(sealing_id) FROM service) || sealed    AS BLOB) WHERE length(sealed) > 0;
UPDATE discards    SET sealed    = CAST((SELECT unhex(sealing_id) FROM service) || sealed    AS BLOB);
UPDATE answers     SET sealed    = CAST((SELECT unhex(sealing_id) FROM service) || sealed    AS BLOB);
UPDATE tables      SET test_seed = CAST((SELECT unhex(sealing_id) FROM service) || test_seed AS BLOB) WHERE test_seed IS NOT NULL;
-- A seed may be sealed anew; what was promised stays.
CREATE TRIGGER commitments_stay BEFORE UPDATE OF value, table_id, hand, fixed ON commitments BEGIN SELECT RAISE(ABORT, 'commitments are never changed'); END;
