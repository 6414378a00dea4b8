/**
 * Only whoever has the run claimed under that fence writes. The lock of the task's row keeps it so until the bytes are there;
 * a row that somebody else has locked is passed over, so that no one task holds up the others. Answers for each run that is
 * claimed so whether it was written. Pieces that lie across the border of what is dropped are cut. One that is there already,
 * because its answer was lost, may have got longer since. The bytes of all come as one: they need not be written out as text.
 */
export const APPEND_OUTPUT = `
WITH asked AS (
  SELECT id, run, fence, keep_from, start, substring($8::bytea FROM place FOR length) AS bytes
  FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::integer[], $7::integer[])
    AS asked (id, run, fence, keep_from, start, place, length)
), claimed AS (
  SELECT id, run, fence FROM tasks WHERE id = ANY($1::text[]) AND status IN ('running', 'stopping')
), held AS MATERIALIZED (
  SELECT number, id, run, fence FROM tasks WHERE id = ANY($1::text[]) AND status IN ('running', 'stopping')
  ORDER BY number FOR SHARE SKIP LOCKED
), own AS MATERIALIZED (
  SELECT held.number AS task, asked.* FROM asked JOIN held USING (id, run, fence)
), kept AS MATERIALIZED (
  SELECT task, run, max(keep_from) AS keep_from FROM own GROUP BY task, run HAVING max(keep_from) > 0
), dropped AS (
  DELETE FROM outputs USING kept
  WHERE outputs.task = kept.task AND outputs.run = kept.run AND start < keep_from AND stop <= keep_from
), cut AS (
  UPDATE outputs SET start = keep_from, bytes = substring(bytes FROM (keep_from - start + 1)::integer) FROM kept
  WHERE outputs.task = kept.task AND outputs.run = kept.run AND start < keep_from AND stop > keep_from
), written AS (
  INSERT INTO outputs (task, run, start, stop, bytes)
  SELECT task, run, start, start + octet_length(bytes), bytes FROM own
  ON CONFLICT (task, run, start) DO UPDATE SET stop = excluded.stop, bytes = excluded.bytes
  WHERE excluded.stop > outputs.stop
)
SELECT DISTINCT claimed.id, claimed.run, claimed.fence, held.id IS NOT NULL AS is_written
FROM asked JOIN claimed USING (id, run, fence) LEFT JOIN held USING (id, run, fence)`

/** Of those of the runs that have printed. */
export const OUTPUT_EXTENTS = {
  name: "output_extents",
  text: `SELECT wanted.id, wanted.run, first, total FROM unnest($1::text[], $2::integer[]) AS wanted (id, run)
  JOIN tasks ON tasks.id = wanted.id
  CROSS JOIN LATERAL (SELECT start AS first FROM outputs
    WHERE task = number AND outputs.run = wanted.run ORDER BY start LIMIT 1) AS head
  CROSS JOIN LATERAL (SELECT stop AS total FROM outputs
    WHERE task = number AND outputs.run = wanted.run ORDER BY start DESC LIMIT 1) AS tail`,
}

/** From the piece on in which it begins: a run that says little at a time has very many of them. */
export const READ_OUTPUT = {
  name: "read_output",
  text: `SELECT outputs.start, bytes FROM tasks
  CROSS JOIN LATERAL (SELECT coalesce(max(start), 0) AS start FROM outputs
    WHERE task = number AND outputs.run = $2::integer AND start <= $3::bigint) AS head
  JOIN outputs ON task = number AND outputs.run = $2::integer AND outputs.start >= head.start
    AND outputs.start < $4::bigint AND stop > $3::bigint
  WHERE id = $1::text ORDER BY outputs.start`,
}
