-- min_binary: 17
-- This number is another step's.
SELECT 1;
