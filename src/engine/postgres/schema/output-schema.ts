/**
 * The second version: what runs print. Pieces of one run follow each other without a gap; the oldest go when it prints more
 * than is kept, and all of them with the task, whichever version removes it.
 */
export const OUTPUT_SCHEMA = `
CREATE TABLE outputs (
  task bigint NOT NULL REFERENCES tasks (number) ON DELETE CASCADE,
  run integer NOT NULL,
  start bigint NOT NULL,
  stop bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (task, run, start)
);
`
