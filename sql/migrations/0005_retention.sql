-- Which events are moves of a job. The newest of them is kept as long as the job.

CREATE FUNCTION event_moves(kind text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT kind IN ('submitted', 'claimed', 'retry', 'released', 'worker_lost', 'finished', 'cancelled', 'restored', 'dead', 'rejudge')
$$;
